// `npm run pages`: writes the generated pages.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../tidy/files.ts';
import { auditPage, errorsPage, limitsPage } from './pages.ts';

writeFileSync(join(ROOT, 'gateway/ERRORS.md'), errorsPage());
writeFileSync(join(ROOT, 'machines/LIMITS.md'), limitsPage());
writeFileSync(join(ROOT, 'gateway/AUDIT.md'), auditPage());
