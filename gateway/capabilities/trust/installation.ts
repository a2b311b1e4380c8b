// How a node becomes a Sensor before it is one: the line to paste, the script behind it and the package. decision: D68
import type { Capability } from '../../capability.ts';
import { enrollLine } from '../../operator-plane/trust/enroll-line.ts';
import { installRoutes } from '../../operator-plane/trust/install-routes.ts';
import { type NodeUrl, nodeUrl } from '../../operator-plane/trust/node-url.ts';

export type Installation = {
  /** The line to paste on a node. The port is bound by then. */
  line(): string;
  /** The address in it. */
  url(): NodeUrl;
};

export const installation: Capability<Installation> = {
  name: 'installation',
  open(context) {
    const { config, version, sensorPackages: packages } = context;
    const url = () =>
      nodeUrl({
        ...{ baseUrl: config.baseUrl, bind: config.bind, port: context.listener.port },
        addresses: context.ownAddresses(),
      });
    return {
      service: {
        url,
        line() {
          const { serverCaFingerprintSha256: caFingerprint, serverKeyPin: keyPin } =
            context.certificates.tls();
          return enrollLine({ url: url().url, keyPin, caFingerprint, flavor: config.platform });
        },
      },
      pages: () => [installRoutes({ version, packages })],
      close: () => packages.close(),
    };
  },
};
