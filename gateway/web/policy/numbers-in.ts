/** Whole numbers from 1 in a text with commas, each once. */
export function numbersIn(text: string): number[] {
  const found = text.split(/[\s,]+/).map(Number);
  return [...new Set(found.filter((one) => Number.isSafeInteger(one) && one > 0))];
}
