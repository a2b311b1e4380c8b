// Bytes into lines, across the borders of chunks. A line that is longer than any a Console writes becomes an unreadable one
// instead of a full memory.
const LINE_MAX_CHARS = 4_000_000;

/** Makes the splitter; `end` gives the last line when no line end follows it. */
export function lineSplitter(onLine: (line: string) => void) {
  const decoder = new TextDecoder();
  let rest = '';
  let isTooLong = false;
  const take = (text: string) => {
    const lines = `${rest}${text}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      onLine(isTooLong ? '?' : line);
      isTooLong = false;
    }
    if (rest.length <= LINE_MAX_CHARS) return;
    isTooLong = true;
    rest = '';
  };
  return {
    push: (bytes: Uint8Array) => take(decoder.decode(bytes, { stream: true })),
    end(): void {
      take(decoder.decode());
      if (isTooLong || rest !== '') onLine(isTooLong ? '?' : rest);
    },
  };
}
