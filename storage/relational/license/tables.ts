// The table of the license as the database holds it.

export type LicenseStateTable = {
  /** Always 1: there is one row. */
  id: number;
  revision: number;
  envelope: string | null;
  imported_at_ms: number | null;
  imported_by: string | null;
  seen_ms: number;
};

export type LicenseTables = {
  license_state: LicenseStateTable;
};
