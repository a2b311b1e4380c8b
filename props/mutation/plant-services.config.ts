// The contracts on real stores in a copy with a planted fault: as `npm run test:services` runs them, without the page,
// which no contract asks for.
import services from '../vitest.services.config.ts';

export default { ...services, test: { ...services.test, globalSetup: [] } };
