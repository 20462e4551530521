import { posix } from 'node:path'

/** A source file: its path from the root of the repository, with forward slashes, and its text. */
export interface Source {
  readonly path: string
  readonly text: string
}

/** The layers that each layer may import. */
const below: { readonly [layer: string]: readonly string[] } = {
  protocol: [],
  client: ['protocol'],
  host: ['protocol'],
  adapters: ['host', 'protocol'],
  web: ['client', 'protocol'],
  cli: ['adapters', 'client', 'host', 'protocol'],
  bench: ['adapters', 'client', 'host', 'proof', 'protocol'],
  conformance: ['protocol'],
  proof: ['adapters', 'client', 'host', 'protocol'],
}

/**
 * The units of each package in floors, from the top down. A unit is a folder of `src`, or a file directly in `src`.
 * A unit may import units of lower floors only: never upward, never sideways.
 */
export const floors: { readonly [layer: string]: readonly (readonly string[])[] } = {
  protocol: [
    ['index.ts'],
    ['document.ts', 'oracles'],
    ['versions'],
    ['kind-types.ts', 'rpc'],
    ['channels.ts'],
    ['reducers.ts', 'commands.ts', 'error-data.ts'],
    ['automation', 'root', 'mcp'],
    ['session'],
    ['chat', 'errors.ts'],
    ['annotations', 'changeset', 'resource', 'status.ts'],
    ['common', 'canvas', 'otlp', 'resource-watch', 'terminal'],
    ['kind.ts'],
    ['reduce.ts', 'uri.ts', 'file-uri.ts'],
    ['channel.ts', 'action.ts', 'command.ts', 'text'],
    ['schema.ts', 'limits.ts', 'update.ts', 'function-map.ts'],
    ['null-removal.ts'],
    ['json.ts', 'limits'],
  ],
  client: [
    ['index.ts', 'react.ts'],
    [
      'comments.ts',
      'connect.ts',
      'history.ts',
      'hosts.ts',
      'past.ts',
      'provide-tools.ts',
      'provide-files.ts',
    ],
    ['active-client.ts', 'sessions.ts'],
    ['client.ts'],
    ['link'],
    ['sync'],
    ['shared'],
  ],
  host: [
    ['cluster'],
    ['host.ts'],
    ['open.ts'],
    ['connection', 'parts.ts'],
    ['parts/automations'],
    ['dispatch', 'host-ports.ts', 'parts/session'],
    ['parts/chat'],
    ['parts/turn', 'parts/completions', 'parts/root'],
    ['parts/annotations', 'parts/changes', 'parts/customizations'],
    ['parts/canvas', 'parts/tools', 'parts/auth', 'parts/worktrees', 'parts/roles', 'parts/subscriptions'],
    [
      'parts/agents',
      'parts/background',
      'parts/resources',
      'parts/terminal',
      'parts/history',
      'parts/retention',
      'dialect',
    ],
    ['parts/access', 'parts/notifications', 'parts/search', 'parts/telemetry', 'channels'],
    ['parts/devices', 'parts/listings', 'catalog'],
    ['kernel'],
    ['kernel/sealing', 'plugins'],
    ['kernel/log', 'plugins/parse'],
    ['kernel/records'],
    ['ports'],
  ],
  adapters: [
    ['captures'],
    ['captures/apply', 'captures/memory', 'captures/objects'],
    ['other-hosts', 'worktrees', 'search/sqlite', 'search/postgres', 'store/move'],
    [
      'acp',
      'guide',
      'mcp',
      'model',
      'content',
      'files',
      'hooks',
      'terminals',
      'git',
      'push',
      'telemetry',
      'store/sqlite',
      'store/postgres',
      'server',
    ],
    ['acp/parts', 'store/sql'],
    ['acp/tool-server', 'acp/calls'],
    [
      'acp/process',
      'mcp/shapes',
      'model/offered',
      'model/provider',
      'files/watch',
      'server/page',
      'store',
      'search',
    ],
    ['process', 'network', 'customization', 'server/devices'],
  ],
  web: [
    ['app'],
    ['automations'],
    ['history', 'settings', 'start'],
    ['inbox'],
    ['chat', 'sessions'],
    ['chat/changes', 'chat/composer', 'chat/form', 'chat/terminals'],
    ['chat/tools'],
    ['chat/shared'],
    ['link', 'markdown', 'offline'],
    ['ui', 'styles'],
  ],
  cli: [
    ['main.ts'],
    ['verbs.ts'],
    ['manager', 'verb.ts'],
    ['commands'],
    ['shell-completion.ts', 'doctor', 'live'],
    ['render'],
    ['session'],
    ['link'],
    ['serve'],
    ['serve/metrics', 'serve/telemetry', 'terminal'],
  ],
}

/** Only these layers may import `node:` modules and packages that are not ours. */
const outward = ['adapters', 'web', 'cli', 'bench', 'conformance', 'proof']

/** The foreign packages that pure layers use. Each has one file that may import it. */
const onlyImporter: { readonly [specifier: string]: string } = {
  zod: 'packages/protocol/src/schema.ts',
  react: 'packages/client/src/react.ts',
}

/**
 * Packages and doors that only some files may import: foreign packages, so that each can be replaced and loads late, and
 * the oracles, which judge the product and are no part of it.
 */
const reserved: readonly { readonly of: RegExp; readonly to: RegExp }[] = [
  { of: /^@atrium\/protocol\/oracles/, to: /^(?:conformance|proof|bench)\// },
  { of: /^(?:ai|@ai-sdk\/.+)$/, to: /^packages\/adapters\/src\/model\// },
  // The components of `ui` know no protocol: they have props only.
  { of: /^@atrium\//, to: /^(?!packages\/web\/src\/ui\/)/ },
  { of: /^@modelcontextprotocol\/client/, to: /^(?:packages\/adapters\/src\/mcp|bench\/src\/agent)\// },
]

/**
 * Sources of time, randomness and machine state. Pure layers get these through ports, so that a simulation can supply
 * its own.
 */
const impure =
  /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bset(?:Timeout|Interval|Immediate)\b|\bperformance\.|\bprocess\.|\bcrypto\./

/**
 * The doors of each package are the keys of its export map: other packages may import `@atrium/host/log` if `host` has
 * the key `./log`.
 */
export interface Doors {
  readonly [layer: string]: readonly string[]
}

/** The problems of the imports of these files, one sentence for each problem. */
export function layerProblems(sources: readonly Source[], doors: Doors = {}): readonly string[] {
  const problems = sources.flatMap((source) => [
    ...importsOf(source).flatMap((specifier) => [
      ...importProblem(source.path, specifier),
      ...floorProblem(source.path, specifier),
      ...doorProblem(source.path, specifier, doors),
    ]),
    ...impurities(source),
  ])
  return [...problems, ...importCycles(sources)]
}

export function importsOf({ text }: Source): readonly string[] {
  const found = text.matchAll(
    /(?:^|\n)\s*(?:import|export)\b[^'"\n]*(?:\n[^'"]*?)?from\s*['"]([^'"]+)['"]|import\s*\(?\s*['"]([^'"]+)['"]/g,
  )
  return [...found].map((match) => match[1] ?? match[2] ?? '')
}

function importProblem(path: string, specifier: string): readonly string[] {
  const layer = layerOf(path)
  const allowed = below[layer]
  if (!allowed) return [`${path}: no such layer: ${layer}`]
  if (specifier.startsWith('.')) {
    const target = posix.join(posix.dirname(path), specifier)
    if (layerOf(target) !== layer) return [`${path} imports a file of another package: ${specifier}`]
    if (target.endsWith('/src/index.ts')) return [`${path} imports the index of its own package`]
    return /\.(?:tsx?(?:\?worker&url)?|css)$/.test(specifier)
      ? []
      : [`${path} imports ${specifier} without .ts`]
  }
  if (reserved.some(({ of, to }) => of.test(specifier) && !to.test(path)))
    return [`${path} may not import ${specifier}`]
  const ours = /^@atrium\/([^/]+)/.exec(specifier)?.[1]
  if (ours !== undefined)
    return allowed.includes(ours) ? [] : [`${path} imports a higher layer: ${specifier}`]
  if (outward.includes(layer) || onlyImporter[specifier] === path) return []
  return [`${path} is pure and may not import ${specifier}`]
}

function floorProblem(path: string, specifier: string): readonly string[] {
  const order = floors[layerOf(path)]
  if (!order || !specifier.startsWith('.')) return []
  const [from, to] = [path, posix.join(posix.dirname(path), specifier)].map((file) => unitOf(order, file))
  if (!from || !to) return [`${path}: ${from ? specifier : 'this file'} is in no unit of the floor table`]
  if (from.unit === to.unit || from.floor < to.floor) return []
  return [`${path} imports ${specifier}: ${to.unit} is not below ${from.unit}`]
}

/** The unit that contains the file. If several do, the one with the longest name: `acp/process` rather than `acp`. */
function unitOf(
  order: readonly (readonly string[])[],
  path: string,
): { unit: string; floor: number } | undefined {
  const inside = path.slice(path.indexOf('/src/') + '/src/'.length)
  return order
    .flatMap((units, floor) => units.map((unit) => ({ unit, floor })))
    .filter(({ unit }) => inside === unit || inside.startsWith(`${unit}/`))
    .toSorted((a, b) => b.unit.length - a.unit.length)[0]
}

function doorProblem(path: string, specifier: string, doors: Doors): readonly string[] {
  const [, layer = '', rest = ''] = /^@atrium\/([^/]+)(\/.+)?$/.exec(specifier) ?? []
  const open = doors[layer]
  if (!open || open.some((door) => matches(door, `.${rest}`))) return []
  return [`${path} imports ${specifier}, which is no door of ${layer}`]
}

function matches(door: string, specifier: string): boolean {
  const [before = '', after] = door.split('*')
  return after === undefined ? door === specifier : specifier.startsWith(before) && specifier.endsWith(after)
}

/**
 * The one file of a pure layer that may use the clock and the randomness of the platform. Apps get their ports from
 * this file.
 */
const globals = ['packages/client/src/shared/globals.ts']

function impurities({ path, text }: Source): readonly string[] {
  const found = outward.includes(layerOf(path)) || globals.includes(path) ? null : impure.exec(text)
  return found ? [`${path} is pure and may not use ${found[0]}`] : []
}

/** Files that import one another in a cycle. Imports of types count too. */
function importCycles(sources: readonly Source[]): readonly string[] {
  return cyclesIn(new Map(sources.map((source) => [source.path, neighbours(source)])))
}

/**
 * Folders that import one another in a cycle. A file that has folders beside it counts by itself: `main.ts` may import
 * a folder that imports `table.ts`, the neighbour of `main.ts`.
 */
export function folderCycles(sources: readonly Source[]): readonly string[] {
  const folders = new Set(sources.map(({ path }) => posix.dirname(path)))
  const hasFolders = new Set([...folders].map((folder) => posix.dirname(folder)))
  const unitOfPath = (path: string) => (hasFolders.has(posix.dirname(path)) ? path : posix.dirname(path))
  const graph = new Map<string, string[]>()
  for (const source of sources) {
    const from = unitOfPath(source.path)
    const to = neighbours(source).map(unitOfPath)
    graph.set(from, [...(graph.get(from) ?? []), ...to.filter((unit) => unit !== from)])
  }
  return cyclesIn(graph)
}

function cyclesIn(graph: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const done = new Set<string>()
  const problems: string[] = []
  const visit = (node: string, trail: readonly string[]): void => {
    if (trail.includes(node))
      problems.push(`import cycle: ${[...trail.slice(trail.indexOf(node)), node].join(' -> ')}`)
    if (trail.includes(node) || done.has(node)) return
    for (const next of graph.get(node) ?? []) visit(next, [...trail, node])
    done.add(node)
  }
  for (const node of graph.keys()) visit(node, [])
  return problems
}

function neighbours(source: Source): readonly string[] {
  const relative = importsOf(source).filter((specifier) => specifier.startsWith('.'))
  return relative.map((specifier) => posix.join(posix.dirname(source.path), specifier))
}

/** The layer of a file: `packages/host/src/log.ts` is in host, `bench/src/main.ts` in bench. */
function layerOf(path: string): string {
  const [first = '', second = ''] = path.split('/')
  return first === 'packages' ? second : first
}
