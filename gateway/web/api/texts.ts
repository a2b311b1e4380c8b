export const API_TEXTS = {
  status: (status: number) => `The Console answered ${status}`,
  unreachable: 'The Console does not answer',
  unreachableHint: 'Look whether it runs, then try again.',
  rolesThatMay: (roles: readonly string[]) =>
    `The ${roles.length === 1 ? 'role' : 'roles'} ${roles.join(', ')} may do it.`,
};
