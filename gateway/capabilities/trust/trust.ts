// Trust: who becomes a sensor, how its certificate is renewed, and how its trust ends. decision: D10, D12; invariant: I2, I3, I9
import { createEnrollment } from '../../../actors/trust/enrollment.ts';
import {
  type Authenticate,
  createAuthenticate,
  createRenewal,
} from '../../../actors/trust/renewal.ts';
import { createRevocation, type RevokeSensor } from '../../../actors/trust/revocation.ts';
import { createTokenService, type TokenService } from '../../../actors/trust/tokens.ts';
import { SENSOR_PATHS } from '../../../machines/wire/enrollment.ts';
import type { Capability, ConsoleContext } from '../../capability.ts';
import { enrollmentTokenRoutes } from '../../operator-plane/trust/enrollment-tokens.ts';
import { sensorTrustRoutes } from '../../operator-plane/trust/sensor-trust.ts';
import type { AdmissionDeps } from '../../sensor-plane/deps.ts';
import { handleEnroll } from '../../sensor-plane/enroll-route.ts';
import { handleRenew } from '../../sensor-plane/renew-route.ts';
import { access } from '../access/access.ts';
import { fleet } from '../fleet/fleet.ts';
import { license } from '../license/license.ts';
import { packs } from '../policy/packs.ts';
import { serverCertificateLoop } from './certificate-renewal.ts';
import { installation } from './installation.ts';

export type Trust = {
  readonly tokens: TokenService;
  readonly revokeSensor: RevokeSensor;
  /** What every route of sensors asks before its own work. */
  readonly admission: AdmissionDeps;
};

export const trust: Capability<Trust> = {
  name: 'trust',
  open(context) {
    const { relational, clock, logger, time, intervals, chance, config, cursors } = context;
    const { sensors: registry, audit, teams } = relational;
    const { identities: cache, sensors, liveView } = context.use(fleet);
    const budget = context.use(access).addressBudget;
    const shared = {
      ...{ registry, cache, sensors, audit, intervals, logger, chance },
      // They are there before the port is.
      certificates: lateCertificates(context),
      now: time.now,
    };
    const authenticate: Authenticate = createAuthenticate(shared);
    const admission = { now: time.now, clock, intervals, cache, authenticate, budget };
    const enroll = createEnrollment({
      ...shared,
      license: context.use(license).gate,
      platform: config.platform,
      // Of a new node: every key that is trusted when it enrolls.
      get policyPublicKeyPem() {
        return context.use(packs).book.keys().pem;
      },
    });
    const renew = createRenewal(shared);
    const tokens = createTokenService({
      registry,
      // Read for every token: an operator may change it meanwhile.
      get ttlMs() {
        return intervals.ENROLLMENT_TOKEN_TTL_MS;
      },
      now: time.now,
      chance,
    });
    const revokeSensor = createRevocation({ registry, cache, sensors, now: time.now });
    const routes = {
      ...{ registry, teams, tokens, revokeSensor, cursors, fleet: liveView, now: time.now },
      enrollLine: () => context.use(installation).line(),
    };
    return {
      service: { tokens, revokeSensor, admission },
      operatorRoutes: () => [enrollmentTokenRoutes(routes), sensorTrustRoutes(routes)],
      sensorPosts: [
        {
          path: SENSOR_PATHS.enroll,
          answer: (exchange) => handleEnroll({ ...admission, enroll }, exchange),
        },
        {
          path: SENSOR_PATHS.renew,
          answer: (exchange) => handleRenew({ ...admission, renew }, exchange),
        },
      ],
      loops: () => [serverCertificateLoop(context)],
    };
  },
};

function lateCertificates(context: ConsoleContext): ConsoleContext['certificates']['sensors'] {
  const now = () => context.certificates.sensors;
  return {
    checkCsr: (request) => now().checkCsr(request),
    newSerial: () => now().newSerial(),
    issueSensorCertificate: (request) => now().issueSensorCertificate(request),
    get rootsPem() {
      return now().rootsPem;
    },
  };
}
