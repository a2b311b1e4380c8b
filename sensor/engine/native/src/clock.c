#include "clock.h"
#include <stdio.h>
#include <time.h>

#define SECOND_NS 1000000000ull
#define FOLLOW_NS 2000000ll

static int64_t offset_ns;

static uint64_t read_clock(clockid_t which)
{
	struct timespec now;

	clock_gettime(which, &now);
	return now.tv_sec * SECOND_NS + now.tv_nsec;
}

uint64_t boot_ns(void)
{
	return read_clock(CLOCK_BOOTTIME);
}

uint64_t wall_ns(void)
{
	return read_clock(CLOCK_REALTIME);
}

uint64_t boot_of_wall(uint64_t wall)
{
	return wall - offset_ns;
}

void follow_wall_clock(void)
{
	int64_t offset = read_clock(CLOCK_REALTIME) - read_clock(CLOCK_BOOTTIME);
	int64_t moved = offset - offset_ns;

	if (moved > FOLLOW_NS || moved < -FOLLOW_NS)
		offset_ns = offset;
}

void put_time(struct text *to, uint64_t boot)
{
	static time_t last = -1;
	static char second[32];
	uint64_t wall = boot + offset_ns;
	time_t whole = wall / SECOND_NS;
	char fraction[16];

	if (whole != last) {
		struct tm parts;

		gmtime_r(&whole, &parts);
		strftime(second, sizeof(second), "\"%Y-%m-%dT%H:%M:%S.", &parts);
		last = whole;
	}
	snprintf(fraction, sizeof(fraction), "%09lluZ\"", (unsigned long long)(wall % SECOND_NS));
	put(to, second);
	put(to, fraction);
}
