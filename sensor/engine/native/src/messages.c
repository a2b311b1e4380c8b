#include "messages.h"
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "clock.h"
#include "export.h"
#include "lines.h"
#include "policies.h"
#include "processes.h"
#include "procfs.h"
#include "programs.h"
#include "unwatched.h"

void say(struct text *to, char *start)
{
	put(to, "\n");
	fwrite(start, 1, to->at - start, stdout);
	fflush(stdout);
}

/* No room in the ring, or a program the kernel skipped. */
u64 kernel_lost(void)
{
	return programs_lost() + policies_missed();
}

u64 engine_lost(void)
{
	return export_totals.lost + lines_malformed() + unwatched_begun();
}

static u64 all_lost(void)
{
	return kernel_lost() + engine_lost();
}

void say_hello(void)
{
	struct text *to = image_text();
	char *start = to->at;
	unsigned count;
	const struct disabled *disabled = programs_disabled(&count);

	put(to, "{\"engine\":\"ebpf\",\"mode\":\"ring\",\"version\":\"" VERSION "\",\"disabled_hooks\":[");
	for (unsigned i = 0; i < count; i++) {
		put(to, i ? ",{\"hook\":" : "{\"hook\":");
		put_string(to, disabled[i].hook, strlen(disabled[i].hook));
		put(to, ",\"reason\":");
		put_string(to, disabled[i].reason, strlen(disabled[i].reason));
		put(to, disabled[i].is_missing ? ",\"missing\":true}" : "}");
	}
	put(to, "],\"attached\":");
	put_number(to, programs_attached());
	put(to, ",\"gap_ms\":");
	put_number(to, unwatched_ms());
	put_unwatched(to);
	put(to, ",\"lost\":");
	put_number(to, all_lost());
	put(to, ",\"pid\":");
	put_number(to, getpid());
	put(to, "}");
	say(to, start);
}

void say_attached(void)
{
	struct text *to = image_text();
	char *start = to->at;

	put(to, "{\"attached\":");
	put_number(to, programs_attached());
	put(to, "}");
	say(to, start);
}

void say_alive(void)
{
	struct text *to = image_text();
	char *start = to->at;
	struct rusage used;

	getrusage(RUSAGE_SELF, &used);
	put(to, "{\"alive\":");
	put_time(to, boot_ns());
	put(to, ",\"written\":");
	put_number(to, export_totals.written);
	put(to, ",\"lost\":");
	put_number(to, all_lost());
	put(to, ",\"filtered\":");
	put_number(to, programs_count(COUNT_FILTERED));
	put(to, ",\"processes\":");
	put_number(to, processes_count());
	put(to, ",\"rss_kib\":");
	put_number(to, used.ru_maxrss);
	put(to, "}");
	say(to, start);
}
