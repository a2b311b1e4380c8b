#include "outlive.h"
#include "clock.h"
#include "export.h"

#define NS_PER_MS 1000000ull

static u64 most_ms, most_bytes, ends_at, bytes_before;

void outlive_allow_ms(u64 ms)
{
	most_ms = ms;
}

void outlive_allow_bytes(u64 bytes)
{
	most_bytes = bytes;
}

bool outlive_begin(void)
{
	ends_at = boot_ns() + most_ms * NS_PER_MS;
	bytes_before = export_totals.bytes;
	return most_ms > 0;
}

bool outlive_is_over(void)
{
	return ends_at && (boot_ns() >= ends_at || export_totals.bytes - bytes_before > most_bytes);
}
