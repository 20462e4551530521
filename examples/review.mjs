// People review what an agent has changed. The guide edits three files by its tools and one by a shell, while a person types
// into one of them. Ann sees the changes of the turn, marks a hunk as reviewed, takes one file back and commits the rest; what the
// person typed stays. She comments on a line, and the guide answers. Then a session in a worktree of its own is applied to the
// main checkout. The host is killed in the middle of the undo and of the apply. Ben sees all of it live.
// Run: npm run build && node examples/review.mjs
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { connect, sessionComments } from '@atrium/client'
import { textOf as messageText } from '@atrium/protocol/common/content'
import { fileUri } from '@atrium/protocol/file-uri'
import { WebSocket } from 'ws'

const atrium = fileURLToPath(new URL('../packages/cli/bin/atrium.mjs', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'atrium-example-'))
const work = join(folder, 'work')
mkdirSync(work)
const at = (name) => join(work, name)
const textOf = (name) => readFileSync(at(name), 'utf8')
const git = (...args) => execFileSync('git', ['-C', work, ...args], { encoding: 'utf8' }).trim()
const lines = (count) => Array.from({ length: count }, (_, i) => `line ${i + 1}.\n`).join('')
for (const name of ['plan.txt', 'notes.txt', 'list.txt', 'table.txt']) writeFileSync(at(name), lines(30))
git('init', '-q', '-b', 'main')
git('config', 'user.name', 'Ann')
git('config', 'user.email', 'ann@example.com')
git('add', '.')
git('commit', '-qm', 'Begin')

/** Starts the real host. Resolves when the host listens. */
async function start(port) {
  const args = [atrium, 'serve', '--json', '--port', port, '--data', join(folder, 'data')]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] })
  const [line] = await once(createInterface(child.stdout), 'line')
  return { child, ...JSON.parse(line) }
}

let host = await start('0')
const { url, token } = host
const ann = connect({ url, token, WebSocket, clientId: 'ann' })
const ben = connect({ url, token, WebSocket, clientId: 'ben' })

/** Kills the host, and starts it again. */
async function killed() {
  host.child.kill('SIGKILL')
  await once(host.child, 'exit')
  host = await start(new URL(url).port)
  await Promise.all([ann.live(), ben.live()])
}

/** A session of the guide in the repository, with Ann's chat in it. */
async function begin(session, config = {}) {
  await ann.ask('createSession', {
    channel: session,
    provider: 'guide',
    workingDirectories: [fileUri(work)],
    config,
  })
  const { defaultChat } = await ann
    .subscribe('session', session)
    .until((state) => state.lifecycle === 'ready' && state.defaultChat)
  return ann.subscribe('chat', defaultChat)
}

let turns = 0

/** Ann writes a message and approves each call. `meanwhile` runs while the guide waits for the approval of this call. */
async function turn(chat, text, meanwhile = {}) {
  const turnId = `ann-${++turns}`
  const message = { text, origin: { kind: 'user' } }
  await chat.dispatch({ type: 'chat/turnStarted', turnId, startedAt: new Date().toISOString(), message })
  const asks = ({ activeTurn }) =>
    activeTurn?.responseParts.find(({ toolCall }) => toolCall?.status === 'pending-confirmation')
  const isOver = (state) => state.turns.some(({ id }) => id === turnId)
  for (let call = 1; ; call++) {
    const state = await chat.until((each) => asks(each) || isOver(each))
    if (isOver(state)) return turnId
    meanwhile[call]?.()
    const { toolCallId } = asks(state).toolCall
    const yes = { approved: true, confirmed: 'user-action' }
    await chat.dispatch({ type: 'chat/toolCallConfirmed', turnId, toolCallId, ...yes })
  }
}

/** Resolves with the state of a changeset as a client sees it, once it satisfies the condition. */
const changes = (client, uri, condition = ({ status }) => status === 'ready') =>
  client.subscribe('changeset', uri).until(condition)
const nameOf = ({ id }) => id.slice(id.lastIndexOf('/') + 1)

/** Sends one of the commands that AHP does not have. */
const extension = async (method, params) => (await ann.live()).request(method, params)

/** Begins an operation, and kills the host as soon as Ben sees that it runs. Resolves with its status after the restart. */
async function killedDuring(channel, operationId, target) {
  const status = ({ operations = [] }) => operations.find(({ id }) => id === operationId)?.status
  await changes(ben, channel, (state) => status(state) === 'idle')
  const running = changes(ben, channel, (state) => status(state) === 'running')
  const answer = ann.ask('invokeChangesetOperation', { channel, operationId, ...target }).catch(() => {})
  await Promise.race([running, answer])
  await killed()
  const state = await changes(ben, channel, (each) => each.status === 'ready' && status(each) !== 'running')
  return status(state)
}

const session = 'ahp-session:/review'
const chat = await begin(session)
const turnId = await turn(
  chat,
  [
    'steps',
    'edit plan.txt line 2. => the second line',
    'edit plan.txt line 20. => the twentieth line',
    'edit notes.txt line 3. => the third line',
    'edit list.txt line 9. => the ninth line',
    "run sed -i 's/line 4[.]/the fourth line/' table.txt",
  ].join('\n'),
  { 4: () => appendFileSync(at('notes.txt'), 'typed by a person\n') },
)
const ofTurn = `${chat.uri}/changeset/turn/${turnId}`
const canUndo = ({ status, operations = [] }) =>
  status === 'ready' && operations.some(({ id }) => id === 'undo')
const { files, operations } = await changes(ben, ofTurn, canUndo)
console.log(`Ben sees what the turn has changed: ${files.map(nameOf).join(', ')}`)
console.log(`Undo would do this. ${operations.find(({ id }) => id === 'undo').confirmation}`)

const plan = files.find((file) => nameOf(file) === 'plan.txt').id
const review = { channel: ofTurn, file: plan, hunks: [], reviewed: true }
const { hunks } = await extension('x-atrium/reviewHunks', review)
await extension('x-atrium/reviewHunks', { ...review, hunks: [hunks[0].hash] })
const marks = ({ files: shown }) => {
  const { _meta } = shown.find(({ id }) => id === plan)
  return _meta?.['x-atrium']?.hunks?.filter(({ reviewed }) => reviewed).length
}
await changes(ben, ofTurn, (state) => marks(state) === 1)
console.log(`Ann marks a hunk of plan.txt as reviewed. Ben sees the mark: 1 of ${hunks.length} hunks`)

const list = { target: { kind: 'resource', resource: fileUri(at('list.txt')) } }
await killedDuring(ofTurn, 'undo', list)
if (textOf('list.txt') !== lines(30))
  await ann.ask('invokeChangesetOperation', { channel: ofTurn, operationId: 'undo', ...list })
console.log(
  `Ann undoes list.txt, and the host is killed meanwhile. The file is whole: ${textOf('list.txt') === lines(30)}`,
)
console.log(`What a person typed is still there: ${textOf('notes.txt').endsWith('typed by a person\n')}`)

const uncommitted = `${session}/changeset/uncommitted`
await extension('x-atrium/commit', { channel: uncommitted, message: 'Say it in words' })
await changes(ben, uncommitted, (state) => state.status === 'ready' && state.files.length === 0)
console.log(`The rest is committed: ${git('show', '--format=%s', '--name-only').replaceAll(/\n+/g, ', ')}`)

const bens = sessionComments(ben, session)
const comments = sessionComments(ann, session)
await Promise.all([bens.ready(), comments.ready()])
const range = { start: { line: 1, character: 0 }, end: { line: 1, character: 15 } }
const comment = await comments.add({ resource: plan, range, text: 'Why in words?' })
await turn(chat, `reply ${comment} Because words are easier to read.`)
const { annotations } = await bens.channel.until((state) => state.annotations[0]?.entries.length === 2)
console.log(
  `Ann comments on line 2, and the guide answers. Ben reads: ${messageText(annotations[0].entries[1].text)}`,
)

const inTree = await begin('ahp-session:/tree', { isolation: 'worktree' })
await turn(inTree, 'write idea.txt a new idea')
const ofTree = 'ahp-session:/tree/changeset/session'
console.log(
  `A session in a worktree writes idea.txt. It is in the main checkout: ${existsSync(at('idea.txt'))}`,
)
if ((await killedDuring(ofTree, 'apply')) === 'idle')
  await ann.ask('invokeChangesetOperation', { channel: ofTree, operationId: 'apply' })
console.log(
  `Ann applies it, and the host is killed meanwhile. The main checkout has: ${textOf('idea.txt').trim()}`,
)

ann.close()
ben.close()
host.child.kill()
await once(host.child, 'exit')
rmSync(folder, { recursive: true, force: true })
