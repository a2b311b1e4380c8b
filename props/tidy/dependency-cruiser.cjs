// Who may import whom. Everything not allowed here is a violation. See README.md, "The house".
const inside = (folder) => `^${folder}/`;
const only = (name, from, allowed, packages = null) => ({
  name,
  severity: 'error',
  from: { path: inside(from), pathNot: '\\.test\\.ts$' },
  to: {
    path: '^(machines|actors|gateway|storage|sensor|props)/',
    pathNot: allowed.map((folder) => `^${folder}`),
  },
  ...(packages === null ? {} : { comment: packages }),
});

module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    { name: 'nothing-unresolved', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      // The page runs the statecharts and knows the routes by their types alone; nothing on the Console's side knows it.
      name: 'web-imports-machines-and-types',
      severity: 'error',
      from: { path: '^gateway/web/', pathNot: '\\.test\\.tsx?$' },
      to: {
        path: '^(machines|actors|gateway|storage|sensor|props)/',
        pathNot: ['^gateway/web/', '^machines/'],
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'nothing-imports-web',
      severity: 'error',
      from: { pathNot: ['^gateway/web/', '^props/'] },
      to: { path: '^gateway/web/' },
    },
    only('machines-import-machines', 'machines', ['machines/']),
    {
      name: 'machines-are-pure',
      severity: 'error',
      from: { path: '^machines/', pathNot: '\\.test\\.ts$' },
      to: {
        dependencyTypesNot: ['local', 'type-only'],
        pathNot: ['node_modules/(xstate|typebox|re2js)/', '^machines/'],
      },
    },
    only('runtime-imports-machines', 'actors/runtime', ['machines/', 'actors/runtime/']),
    only('actors-import-ports', 'actors', ['machines/', 'actors/', 'storage/ports/']),
    only('ports-import-machines', 'storage/ports', ['machines/', 'storage/ports/']),
    only('stores-import-ports', 'storage', ['machines/', 'storage/']),
    {
      // What leaves the Console at somebody's word passes one judge of addresses. decision: D159
      name: 'only-outbound-connects',
      severity: 'error',
      from: {
        path: '^(actors|gateway)/',
        pathNot: [
          '^actors/outbound/',
          '^gateway/(cli|listener|web)/',
          // The names of statuses alone.
          '^gateway/operator-plane/plumbing/bridge\\.ts$',
          '\\.(test|fixture)\\.ts$',
        ],
      },
      to: {
        path: '^(node:)?(net|tls|http|https|http2|dgram|dns)(/promises)?$|node_modules/(nodemailer|undici|ws)/',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'only-composition-roots-build-stores',
      severity: 'error',
      from: {
        path: '^gateway/',
        pathNot: [
          '^gateway/main\\.ts$',
          '^gateway/cli/',
          // What only a real process has: its keys, certificates and port.
          '^gateway/process/',
          '\\.(test|fixture)\\.ts$',
        ],
      },
      to: { path: '^(storage/(?!ports/)|sensor/|props/)' },
    },
    {
      name: 'console-knows-no-sensor',
      severity: 'error',
      // The page draws the statecharts of nodes, and imports nothing else of them.
      from: { path: '^(gateway|actors|storage)/', pathNot: ['\\.test\\.ts$', '^gateway/web/'] },
      to: { path: '^(sensor|props|machines/sensor)/' },
    },
    only('sensor-imports-little', 'sensor', [
      'machines/(wire|trust|policy|sensor)/',
      'machines/detection/(deeds|exercise-steps)\\.ts$',
      'machines/(intervals|limits|pipeline-limits|errors|unprovided|wrap-words)\\.ts$',
      'actors/runtime/',
      'sensor/',
    ]),
    {
      name: 'nothing-imports-props',
      severity: 'error',
      from: { pathNot: ['^props/', '\\.test\\.ts$'] },
      to: { path: '^props/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^gateway/web/dist/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.tsx', '.js', '.json', '.css'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
};
