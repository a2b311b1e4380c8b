// The native binaries this project trusts: SHA-256 by architecture and Node ABI (`process.versions.modules`), of the
// package as published and, where old systems need the cure, of the cured copy. decision: D2
// A new package version means new sums here, computed from the installed package and reviewed.

type PinnedBinary = { readonly published: string; readonly cured?: string };

export const PINNED_BINARIES: Readonly<Record<string, PinnedBinary>> = {
  'linux-x64-115': {
    published: '5b126ee00bf754b02e97e4c27090365a8562c5820c93f93918ac2212d4503e91',
    cured: 'd1156432c696075e653325e7d7a784796db200923221e1e4a36293d15d724e32',
  },
  'linux-x64-127': {
    published: '4b55b1f2cb7a7913febbb65a89496412b96af77e838552980092ba6b33723aac',
    cured: 'f1608f301188933e79a50cf7d219a30ee83814aaba5e400e37c10eb9be7958db',
  },
  'linux-x64-137': {
    published: '98128405dba2fb608448e921a979530f70c946a2cc9889c15f2fa70c2d00ab05',
    cured: '337e7312c83b0df8accbe2446055c1e663ef14824712a055dfb8c34852cd8d69',
  },
  'linux-x64-141': {
    published: '813d788b347c6fd76b779d8932311ec05a044e612b4b83af220f16e6ea789683',
    cured: '66513ca63ef5fe6c0534f58cee955fcb272d49194dda12a806c2c1ccfb9b636d',
  },
  'linux-arm64-115': {
    published: '6bdbc8ff976b4371af1906175e9025804bacc38a414969f4f02314e6b99f206c',
  },
  'linux-arm64-127': {
    published: '82b79bd18d1e3563de336156005bd01b7f39fc387b65173d69a29da4ee79f895',
  },
  'linux-arm64-137': {
    published: '88618b30ddf6b2b62310db89f40a701616676352aac5e0f6184dd8ef876199ce',
  },
  'linux-arm64-141': {
    published: '81d0186dd1549ed6a7f47e68e323573fc27d69d2920527654ce2dd993af2b0ec',
  },
};
