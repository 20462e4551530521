import { posix } from 'node:path'

/** A source file: its path from the root, with slashes, and its text. */
export interface Source {
  readonly path: string
  readonly text: string
}

/** What each layer may import. Arrows point down only. */
const below: { readonly [layer: string]: readonly string[] } = {
  protocol: [],
  client: ['protocol'],
  host: ['protocol'],
  adapters: ['host', 'protocol'],
  web: ['client', 'protocol'],
  cli: ['adapters', 'client', 'host', 'protocol'],
  bench: ['adapters', 'client', 'host', 'protocol'],
  conformance: ['protocol'],
  proof: ['adapters', 'client', 'host', 'protocol'],
}

/** Only these may name `node:` or a package that is not ours. */
const outward = ['adapters', 'web', 'cli', 'bench', 'conformance', 'proof']

/** Each foreign package of the pure layers, and the one file that may know it. */
const keepers: { readonly [specifier: string]: string } = {
  zod: 'packages/protocol/src/schema.ts',
  react: 'packages/client/src/react.ts',
}

/** Foreign packages that only some files of an outward layer may know, so that they can be replaced, and are loaded when they are needed. */
const reserved: readonly { readonly of: RegExp; readonly to: RegExp }[] = [
  { of: /^(?:ai|@ai-sdk\/.+)$/, to: /^packages\/adapters\/src\/model\// },
]

/** Time, chance and the machine come in through ports, so that a simulation can own them. */
const impure =
  /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bset(?:Timeout|Interval|Immediate)\b|\bperformance\.|\bprocess\.|\bcrypto\./

/** What is wrong with the imports of these files, a sentence each. */
export function layerProblems(sources: readonly Source[]): readonly string[] {
  const problems = sources.flatMap((source) => [
    ...importsOf(source).flatMap((specifier) => importProblem(source.path, specifier)),
    ...impurities(source),
  ])
  return [...problems, ...rings(sources)]
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
    if (layerOf(target) !== layer) return [`${path} reaches into another package: ${specifier}`]
    if (target.endsWith('/src/index.ts')) return [`${path} imports the door of its own package`]
    return specifier.endsWith('.ts') ? [] : [`${path} imports ${specifier} without .ts`]
  }
  const ours = /^@atrium\/([^/]+)/.exec(specifier)?.[1]
  if (ours !== undefined) return allowed.includes(ours) ? [] : [`${path} points up: ${specifier}`]
  if (reserved.some(({ of, to }) => of.test(specifier) && !to.test(path)))
    return [`${path} may not know ${specifier}`]
  if (outward.includes(layer) || keepers[specifier] === path) return []
  return [`${path} is pure and may not know ${specifier}`]
}

/** A library that apps load needs some place where time and chance come from; nothing else of it imports this but its door. */
const doors = ['packages/client/src/shared/globals.ts']

function impurities({ path, text }: Source): readonly string[] {
  const found = outward.includes(layerOf(path)) || doors.includes(path) ? null : impure.exec(text)
  return found ? [`${path} is pure and may not use ${found[0]}`] : []
}

/** Files that import one another in a ring, types included. */
function rings(sources: readonly Source[]): readonly string[] {
  const graph = new Map(sources.map((source) => [source.path, neighbours(source)]))
  const done = new Set<string>()
  const problems: string[] = []
  const visit = (path: string, trail: readonly string[]): void => {
    if (trail.includes(path))
      problems.push(`a ring: ${[...trail.slice(trail.indexOf(path)), path].join(' -> ')}`)
    if (trail.includes(path) || done.has(path)) return
    for (const next of graph.get(path) ?? []) visit(next, [...trail, path])
    done.add(path)
  }
  for (const path of graph.keys()) visit(path, [])
  return problems
}

function neighbours(source: Source): readonly string[] {
  const relative = importsOf(source).filter((specifier) => specifier.startsWith('.'))
  return relative.map((specifier) => posix.join(posix.dirname(source.path), specifier))
}

/** `packages/host/src/log.ts` is in host, `bench/src/main.ts` in bench. */
function layerOf(path: string): string {
  const [first = '', second = ''] = path.split('/')
  return first === 'packages' ? second : first
}
