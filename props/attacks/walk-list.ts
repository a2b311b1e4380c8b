// Ways through the routes of capabilities that change something, one line each, in any order. decision: D174
export { containment } from '../../gateway/operator-plane/containment/walk.fixture.ts';
export { delivery } from '../../gateway/operator-plane/delivery/walk.fixture.ts';
export { detection } from '../../gateway/operator-plane/detection/walk.fixture.ts';
export { digest } from '../../gateway/operator-plane/digest/walk.fixture.ts';
export { exports } from '../../gateway/operator-plane/exports/walk.fixture.ts';
export { fleet } from '../../gateway/operator-plane/fleet/walk.fixture.ts';
export { hunting } from '../../gateway/operator-plane/hunting/walk.fixture.ts';
export { policy } from '../../gateway/operator-plane/policy/walk.fixture.ts';
export { siem } from '../../gateway/operator-plane/siem/walk.fixture.ts';
export { system } from '../../gateway/operator-plane/system/walk.fixture.ts';
export { trust } from '../../gateway/operator-plane/trust/walk.fixture.ts';
