/** The packages of a lock file, by path. */
type Packages = Readonly<
  Record<
    string,
    {
      readonly version?: string;
      readonly dev?: boolean;
      readonly optional?: boolean;
      readonly devOptional?: boolean;
    }
  >
>;

export function firstMissing(
  locked: Packages,
  installed: Packages,
  withDev: boolean,
): string | null;
