import { readFileSync } from 'node:fs'
import { kinds } from '@atrium/protocol/channels'
import { commands, notifications } from '@atrium/protocol/commands'
import { versions } from '@atrium/protocol/versions/negotiate'
import { expect, test } from 'vitest'
import { root, textOfTests } from './files.ts'
import { specItems } from './spec.ts'

const page = readFileSync(`${root}docs/requirements.md`, 'utf8')
const [before = '', notDriven = ''] = page.split('\n## Not driven by frames\n')
const [statements = '', names = ''] = before.split('\n## AHP 1.0, name by name\n')

/** A statement: a numbered line of the section of its document. */
interface Requirement {
  readonly document: string
  readonly number: number
  readonly statement: string
  readonly rules: readonly string[]
  readonly seenIn: string
  readonly status: string
}

const cellsOf = (line: string) =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim())

const sections = statements.split(/^## (?=R\d{3}: )/m).slice(1)
const requirements: readonly Requirement[] = sections.flatMap((section) =>
  [...section.matchAll(/^(\d+)\. (.+) \[(.+)\]$/gm)].map(([, number, statement = '', note = '']) => {
    const [, cited = '', seenIn = '0.1 to 1.0', status = 'carried'] =
      /^((?:[A-Z]-?\d+\w*(?:\.\d+)?(?:, )?)*)(?:(?:; |^)(\d[^;]*))?(?:(?:; |^)(.+))?$/.exec(note) ?? []
    const rules = cited.split(', ').filter((id) => id !== '')
    return { document: section.slice(0, 4), number: Number(number), statement, rules, seenIn, status }
  }),
)
const idOf = ({ document, number }: Requirement) => `${document}-${number}`
const named = (rows: readonly Requirement[]) => rows.map(idOf)
const isCarried = ({ status }: Requirement) => status === 'carried'
const isMissing = ({ status }: Requirement) => status.startsWith('missing: ')
const decisionOf = ({ status }: Requirement) => /^conflict ([A-Z-]+\d+)$/.exec(status)?.[1]
const isConflict = (row: Requirement) => decisionOf(row) !== undefined
/** The statements that tests drive by frames: titles of tests begin with their ids. */
const drivenByTests: ReadonlySet<string> = new Set(
  [...textOfTests().matchAll(/['"`]\[(R\d{3}-\d+(?: R\d{3}-\d+)*)\]/g)].flatMap(([, ids = '']) =>
    ids.split(' '),
  ),
)
const isDriven = (row: Requirement) => isCarried(row) && drivenByTests.has(idOf(row))
/** The counts of the page, in its order. */
const counts = (rows: readonly Requirement[]) =>
  [isCarried, isDriven, isConflict, isMissing].map((has) => rows.filter(has).length)

const documents = ['R000', 'R001', 'R002', 'R003', 'R004']

test('[A7] every rule that a requirement cites is in the spec', () => {
  const known = new Set(specItems().map(({ id }) => id))
  const unknown = requirements.flatMap((row) =>
    row.rules.filter((id) => !known.has(id)).map((id) => `${named([row])[0]} cites ${id}`),
  )
  expect(unknown).toEqual([])
})

test('[A7] every requirement has a status, and a rule exactly if it is not missing', () => {
  expect(requirements.length).toBeGreaterThan(400)
  expect(named(requirements.filter((row) => !isCarried(row) && !isConflict(row) && !isMissing(row)))).toEqual(
    [],
  )
  expect(named(requirements.filter((row) => isMissing(row) === row.rules.length > 0))).toEqual([])
})

test.each(documents)('[A7] the numbers of %s are 1, 2, 3 and so on', (document) => {
  const numbers = requirements.filter((row) => row.document === document).map(({ number }) => number)
  expect(numbers).toEqual(numbers.map((_, i) => i + 1))
  expect(numbers.length).toBeGreaterThan(0)
})

test('[A7] the counts at the top are those of the tables', () => {
  const [, ...sums] =
    /^(\d+) carried, (\d+) of them driven, (\d+) in conflict, (\d+) missing\.$/m.exec(page)?.map(Number) ?? []
  expect(sums).toEqual(counts(requirements))
  const rows = page.split('\n').flatMap((line) => (/^\| R\d{3}: /.test(line) ? [cellsOf(line)] : []))
  expect(rows.map(([title = '', ...each]) => [title.slice(0, 4), ...each.map(Number)])).toEqual(
    documents.map((document) => [
      document,
      ...counts(requirements.filter((row) => row.document === document)),
    ]),
  )
})

test('[A7.1] each statement that a test drives is carried', () => {
  const carried = new Set(named(requirements.filter(isCarried)))
  expect([...drivenByTests].filter((id) => !carried.has(id))).toEqual([])
})

test('[A7.1] each carried statement is driven by a test, or has the reason why it cannot be', () => {
  const rows = notDriven.split('\n').flatMap((line) => (/^\| R\d{3}-\d/.test(line) ? [cellsOf(line)] : []))
  expect(rows.filter(([, reason = '']) => reason.length < 20)).toEqual([])
  const rest = requirements.filter((row) => isCarried(row) && !isDriven(row))
  expect(rows.map(([id]) => id)).toEqual(named(rest))
})

test('[A7] every conflict has a decision with its reason, and every decision is used', () => {
  const [, section = ''] = page.split('\n## Decisions\n')
  const decisions = section.split('\n').flatMap((line) => (/^\| [A-Z-]+\d/.test(line) ? [cellsOf(line)] : []))
  expect(decisions.filter(([, reason = '']) => reason.length < 20)).toEqual([])
  const used = new Set(requirements.flatMap((row) => decisionOf(row) ?? []))
  expect(new Set(decisions.map(([id]) => id))).toEqual(used)
})

test('[A7] the versions of a requirement exist, and are in order', () => {
  const rank = (short: string | undefined) =>
    versions.findIndex((version) => version === short || version === `${short}.0`)
  const wrong = requirements.filter(({ seenIn }) => {
    const [first, last = first] = seenIn.split(' to ')
    return rank(first) < 0 || rank(last) < rank(first)
  })
  expect(named(wrong)).toEqual([])
})

/** The names of the wire under each heading of the page, with the cell of their rules. */
const namesUnder = new Map(
  names.split('\n### ').map((section) => {
    const rows = section.split('\n').filter((line) => line.startsWith('| `'))
    const [title = ''] = section.split('\n')
    return [title, rows.map((row) => cellsOf(row.replaceAll('`', '')))] as const
  }),
)
const { $defs: shapes } = JSON.parse(
  readFileSync(`${root}packages/protocol/schema/ahp-1.0.0.schema.json`, 'utf8'),
) as { readonly $defs: { readonly [name: string]: { readonly properties?: object } } }
/** The members in which host, agents and clients say what they can do. */
const capabilities = [
  'InitializeParams',
  'InitializeResult',
  'ClientCapabilities',
  'TelemetryCapabilities',
  'AutomationCapabilities',
  'AgentCapabilities',
  'MultipleChatsCapability',
  'MultipleWorkingDirectoriesCapability',
  'SubscribeDelivery',
  'SubscribeView',
  'ChangesetCapabilities',
  'McpAppCapabilities',
].flatMap((shape) => Object.keys(shapes[shape]?.properties ?? {}).map((key) => `${shape}.${key}`))
/** These are members of all params. */
const ofAll = ['InitializeParams.channel', 'InitializeParams._meta']

test.each([
  ['Commands', [...commands.keys()]],
  ['Notifications', [...notifications.keys()]],
  ['Channels', [...Object.keys(kinds), 'otlp', 'mcp']],
  ['Actions', Object.values(kinds).flatMap(({ actions }) => [...actions.keys()])],
  ['Capabilities', capabilities.filter((name) => !ofAll.includes(name))],
])('[A7.2] %s: each name of the wire of 1.0 has a rule of the spec', (title, expected) => {
  const rows = namesUnder.get(title) ?? []
  expect(rows.map(([name]) => name)).toEqual(expected)
  const known = new Set(specItems().map(({ id }) => id))
  const carried = rows.map(([name, cell = '']) => [name, (cell.split(';')[0] ?? '').split(', ')] as const)
  expect(carried.filter(([, rules]) => !rules.every((id) => known.has(id)))).toEqual([])
})

test('[A7] the page has no path of a machine', () => {
  expect(page.match(/(?<!:)\/(?:work|tmp|home|usr|root)\b|\.\.\//g)).toBeNull()
})
