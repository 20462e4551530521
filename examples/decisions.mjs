// Users decide while an agent works, and their decisions are shared and durable. Ben edits and approves a command that Ann's
// turn wants to run. Cat answers a form without opening the chat. The host is killed while a tool call waits for approval;
// after the restart Dan approves the call, and it runs once. Dan allows a tool permanently, sees the permission in a list, and
// revokes it.
// Run: npm run build && node examples/decisions.mjs
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { connect, sessionStatus } from '@atrium/client'
import { Activity, activityOf } from '@atrium/protocol'
import { textOf as messageText } from '@atrium/protocol/common/content'
import { fileUri } from '@atrium/protocol/file-uri'
import { WebSocket } from 'ws'

const atrium = fileURLToPath(new URL('../packages/cli/bin/atrium.mjs', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'atrium-example-'))
const work = join(folder, 'work')
mkdirSync(work)
writeFileSync(join(work, 'notes.txt'), 'hello\n')

const root = 'ahp-root://'
const session = 'ahp-session:/decisions'

/** Starts the real host. Resolves when the host listens. */
async function start(port) {
  const args = [atrium, 'serve', '--json', '--port', port, '--data', join(folder, 'data')]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] })
  const [line] = await once(createInterface(child.stdout), 'line')
  return { child, ...JSON.parse(line) }
}

let host = await start('0')
const enter = (clientId) => connect({ url: host.url, token: host.token, WebSocket, clientId })

/** A chat as one user sees it, with the things that the user does in it. */
class Chat {
  #turns = 0

  constructor(client, uri) {
    this.name = client.clientId
    this.channel = client.subscribe('chat', uri)
  }

  say(text) {
    return this.channel.dispatch({
      type: 'chat/turnStarted',
      turnId: `${this.name}-${++this.#turns}`,
      startedAt: new Date().toISOString(),
      message: { text, origin: { kind: 'user' } },
    })
  }

  queue(id, text) {
    const message = { text, origin: { kind: 'user' } }
    return this.channel.dispatch({ type: 'chat/pendingMessageSet', kind: 'queued', id, message })
  }

  /** Waits for a tool call that needs an approval. */
  async asked() {
    const find = ({ activeTurn }) =>
      activeTurn?.responseParts.find((part) => part.toolCall?.status === 'pending-confirmation')?.toolCall
    return find(await this.channel.until(find))
  }

  async approve(given = {}) {
    const { toolCallId } = await this.asked()
    const turnId = this.channel.state.activeTurn.id
    const yes = { approved: true, confirmed: 'user-action' }
    return this.channel.dispatch({ type: 'chat/toolCallConfirmed', turnId, toolCallId, ...yes, ...given })
  }

  /** Waits until the chat has this number of turns and no turn is active. Returns the last turn. */
  async rest(count) {
    const { turns } = await this.channel.until((state) => state.turns.length === count && !state.activeTurn)
    return turns.at(-1)
  }
}

const textOf = ({ responseParts }) =>
  responseParts.at(-1).toolCall?.content?.at(-1)?.text ?? responseParts.at(-1).content

const ann = enter('ann')
await ann.ask('createSession', { channel: session, workingDirectories: [fileUri(work)] })
const { defaultChat } = await ann.subscribe('session', session).until((state) => state.defaultChat)
const annsChat = new Chat(ann, defaultChat)
const ben = enter('ben')
const bensChat = new Chat(ben, defaultChat)

await annsChat.say('run ls')
console.log(`Ben is asked as well: ${messageText((await bensChat.asked()).invocationMessage)}`)
await bensChat.approve({ editedToolInput: 'ls | wc -l' })
console.log(`He makes it "ls | wc -l", and both see what it says: ${textOf(await annsChat.rest(1))}`)
const late = { turnId: 'ann-1', toolCallId: 'x', approved: true, confirmed: 'user-action' }
const { reason } = await ann.dispatch(defaultChat, { type: 'chat/toolCallConfirmed', ...late })
console.log(`Ann is too late: ${reason}`)

await annsChat.say('ask What is it called?')
const cat = enter('cat')
const { inputNeeded } = await cat
  .subscribe('session', session)
  .until((state) => state.inputNeeded?.length === 1)
await cat.dispatch(inputNeeded[0].chat, {
  type: 'chat/inputCompleted',
  requestId: inputNeeded[0].request.id,
  response: 'accept',
  answers: { name: { state: 'submitted', value: { kind: 'text', value: 'Atrium' } } },
})
const answered = textOf(await annsChat.rest(2)).split('\n')[2]
console.log(`Cat answers a form of a chat that she never opened: ${answered}`)

await annsChat.say('run echo once >> notes.txt')
await annsChat.asked()
await annsChat.queue('q1', 'say first')
await annsChat.queue('q2', 'say second')
host.child.kill('SIGKILL')
await once(host.child, 'exit')
host = await start(new URL(host.url).port)
const dan = enter('dan')
const dansChat = new Chat(dan, defaultChat)
const { queuedMessages } = await dansChat.channel.ready()
console.log(
  `The host is killed and started again: it asks still, and ${queuedMessages.length} messages wait.`,
)
await dansChat.approve()
await dansChat.rest(5)
console.log(
  `Dan approves; it was done once: ${JSON.stringify(readFileSync(join(work, 'notes.txt'), 'utf8'))}`,
)
console.log(`Then the queue: ${dansChat.channel.state.turns.slice(-2).map(textOf).join(', ')}`)

await dansChat.say('read notes.txt')
await dansChat.approve({ selectedOptionId: 'atrium.folder' })
await dansChat.rest(6)
await dansChat.say('read notes.txt')
await dansChat.rest(7)
// The status in the state of a session does not become idle again after a request. The status of its chats does.
const idle = (state) => activityOf(sessionStatus(state)) === Activity.Idle
const { chats } = await dan.subscribe('session', session).until(idle)
console.log(`Nobody is asked, and the session is idle, like its ${chats.length} chat.`)
const settings = dan.subscribe('root', root)
const listed = ({ config }) => config?.values['atrium.permissions']
const [{ tool, folder: where, by }] = listed(await settings.until((state) => listed(state)?.length === 1))
console.log(
  `Allowed for good, and not asked again: ${tool} in ${where.endsWith('/work') ? 'work' : where}, by ${by}`,
)
await settings.dispatch({ type: 'root/configChanged', config: { 'atrium.permissions': [] } })
await dansChat.say('read notes.txt')
console.log(`Taken back, it is asked for again: ${messageText((await dansChat.asked()).invocationMessage)}`)

for (const client of [ann, ben, cat, dan]) client.close()
host.child.kill()
await once(host.child, 'exit')
rmSync(folder, { recursive: true, force: true })
