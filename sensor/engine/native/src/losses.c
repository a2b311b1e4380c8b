#include "losses.h"
#include <stdbool.h>
#include "export.h"
#include "handover.h"
#include "lines.h"
#include "messages.h"
#include "unwatched.h"

static u64 kernel_lost_told, engine_lost_told;

/* What the kernel counts of policies goes with them, so a sum may be less than what was told. */
static u64 since_told(u64 now, u64 told)
{
	return now > told ? now - told : 0;
}

/* A line of losses that the disk refuses is no event that got lost: it is told again, with what follows. */
void tell_losses(void)
{
	static bool is_gap_told;
	bool with_gap = !is_gap_told && unwatched_ms() > 0;
	u64 in_kernel, in_engine, refused;

	export_flush();
	refused = export_totals.lost;
	in_kernel = kernel_lost();
	in_engine = engine_lost();
	if (in_kernel > kernel_lost_told || in_engine > engine_lost_told || with_gap) {
		u64 more = since_told(in_kernel, kernel_lost_told);

		tell_lost(more + since_told(in_engine, engine_lost_told), more, with_gap);
		export_flush();
		if (export_totals.lost > refused) {
			export_totals.lost = refused;
			return;
		}
	}
	is_gap_told = true;
	kernel_lost_told = in_kernel;
	engine_lost_told = in_engine;
	handover_owe(0);
}

u64 losses_untold(void)
{
	return since_told(kernel_lost(), kernel_lost_told) + since_told(engine_lost(), engine_lost_told);
}
