// The public key that licenses are checked with, built in so that no file beside the program can replace it. Its private
// half is in nobody's hands: whoever issues licenses makes a pair with `service-license keygen`, keeps the private key
// with the signing service, and puts the public one here. decision: D32
export const EMBEDDED_LICENSE_ANCHOR_PEM = `-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEA97ebty9ltqMl7FY58kxSAPDtnyp6Han1dzphdGopp+A=
-----END PUBLIC KEY-----
`;
