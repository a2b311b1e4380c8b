// What is on this machine and never crosses a wire. decision: D69

const LOOPBACK_HOST = /^(?:localhost|.*\.localhost|127(?:\.\d{1,3}){3}|\[::1\]|::1)$/;
const LOOPBACK_ADDRESS = /^(?:(?:::ffff:)?127(?:\.\d{1,3}){3}|::1)$/;

/** Whether a host, as an address names it, is this machine. */
export function isLoopbackHost(host: string): boolean {
  return LOOPBACK_HOST.test(host.toLowerCase());
}

/** Whether the address of a peer is this machine's own. */
export function isLoopbackAddress(address: string): boolean {
  return LOOPBACK_ADDRESS.test(address.toLowerCase());
}
