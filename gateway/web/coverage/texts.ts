export const COVERAGE_TEXTS = {
  title: 'Coverage',
  about: 'Of what the nodes produced: what the Console has, and where the rest was lost.',
  sensor: 'Sensor',
  share: 'Coverage',
  seen: 'Seen',
  lost: 'Lost',
  range: 'Time range',
  none: 'Nothing was counted in this range.',
  places: {
    kernel_lost: 'In the kernel',
    engine_lost: 'In the engine',
    reader_skipped: 'At the reader',
    pipeline_dropped: 'In the pipeline',
    spool_discarded: 'In the spool',
    console_refused: 'Refused',
  },
  ranges: { 'now-1h': 'Last hour', 'now-24h': 'Last day', 'now-48h': 'Last two days' },
} as const;
