// Which answer of a store is the newest, where questions overlap. Revisions do not tell: a database that went back to an
// earlier instant gives lower ones, and they are what holds from then on. decision: D171

export type Looks = {
  /** A look begins; asked once its answer is here: whether that is to be taken. */
  begin(): () => boolean;
  /** Something was written and confirmed: what was asked before that knows less. */
  outdate(): void;
};

/** Nobody has looked yet. */
export function createLooks(): Looks {
  let asked = 0;
  let taken = 0;
  return {
    begin() {
      asked += 1;
      const own = asked;
      return () => {
        if (own < taken) return false;
        taken = own;
        return true;
      };
    },
    outdate() {
      asked += 1;
      taken = asked;
    },
  };
}
