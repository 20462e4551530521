import { isAbsolute, resolve } from 'node:path'
import { sessionComments } from '@atrium/client/comments'
import type { NewComment, SessionComments } from '@atrium/client/comments'
import type { Annotation } from '@atrium/protocol/annotations/state'
import { fileUri } from '@atrium/protocol/file-uri'
import { compact } from '@atrium/protocol/update'
import { isRemote } from '../../link/connect.ts'
import type { HostOptions } from '../../link/connect.ts'
import { withClient } from '../../link/with-client.ts'
import { commentDocument, commentText, findComment, parsePlace } from '../../session/comments.ts'
import { findSession, shortNames } from '../../session/find.ts'
import { CommandError, exits } from '../../terminal/exit.ts'
import { output } from '../../terminal/output.ts'
import type { Output, OutputOptions } from '../../terminal/output.ts'

interface Flags extends HostOptions, OutputOptions {
  /** Whether resolved comments are listed, too. */
  readonly all?: boolean
}

interface Call {
  readonly comments: SessionComments
  readonly out: Output
  readonly flags: Flags
  /** The file, or the id of the comment. */
  readonly subject: string
  readonly text: string
}

interface Action {
  readonly usage: string
  readonly needsText: boolean
  run(call: Call): Promise<void>
}

/** The actions of `atrium comments`, by name. */
const actions: { readonly [name: string]: Action } = {
  add: { usage: 'add FILE[:LINE[-LAST]] TEXT', needsText: true, run: add },
  reply: {
    usage: 'reply COMMENT TEXT',
    needsText: true,
    run: (call) => change(call, (id) => call.comments.reply(id, call.text), 'Answered.'),
  },
  resolve: {
    usage: 'resolve COMMENT',
    needsText: false,
    run: (call) => change(call, (id) => call.comments.resolve(id), 'Resolved.'),
  },
  reopen: {
    usage: 'reopen COMMENT',
    needsText: false,
    run: (call) => change(call, (id) => call.comments.resolve(id, false), 'Open again.'),
  },
  remove: {
    usage: 'remove COMMENT',
    needsText: false,
    run: (call) => change(call, (id) => call.comments.remove(id), 'Removed.'),
  },
}

/** `atrium comments`: lists the comments of a session, or writes, answers, resolves or removes one. */
export function comments(
  session: string | undefined,
  name: string | undefined,
  [subject, ...words]: readonly string[],
  flags: Flags,
): Promise<void> {
  const action = actionNamed(name, subject, words)
  return withClient(flags, async (client) => {
    const { resource } = await findSession(client, session ?? 'last')
    const channel = sessionComments(client, resource)
    const all = await channel.ready()
    const out = output(flags)
    if (!action) return list(all, out, flags)
    try {
      await action.run({ comments: channel, out, flags, subject: subject ?? '', text: words.join(' ') })
    } catch (error) {
      if (error instanceof CommandError || !(error instanceof Error)) throw error
      throw new CommandError(`The host refuses this: ${error.message.replace(/\.$/, '')}.`)
    }
  })
}

function actionNamed(
  name: string | undefined,
  subject: string | undefined,
  words: readonly string[],
): Action | undefined {
  if (name === undefined) return undefined
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined
  if (!action)
    throw new CommandError(
      `There is no 'comments SESSION ${name}'; there is: ${Object.keys(actions).join(', ')}.`,
      exits.usage,
    )
  if (subject === undefined || action.needsText !== words.length > 0)
    throw new CommandError(`Use it like this: atrium comments SESSION ${action.usage}`, exits.usage)
  return action
}

function list(all: readonly Annotation[], out: Output, { all: withResolved }: Flags): void {
  const shown = all.filter(({ resolved }) => withResolved === true || !resolved)
  if (out.json) return shown.forEach((each) => out.printJson(commentDocument(each)))
  const names = shortNames(all.map(({ id }) => id))
  const hidden = all.length - shown.length
  if (shown.length > 0)
    out.print({}, () =>
      shown.map((each) => commentText(each, names.get(each.id) ?? each.id, out.style)).join('\n\n'),
    )
  else out.note('There are no open comments here; write one with: atrium comments SESSION add FILE:LINE TEXT')
  if (hidden > 0) out.note(`${hidden} resolved; see all with: --all`)
}

async function add({ comments: channel, out, flags, subject, text }: Call): Promise<void> {
  const { file, range } = parsePlace(subject)
  if (isRemote(flags) && !isAbsolute(file))
    throw new CommandError(`'${file}' must be an absolute path, because the host is remote.`, exits.usage)
  const id = await channel.add(compact<NewComment>({ resource: fileUri(resolve(file)), range, text }))
  out.report({ id }, () => `Commented: ${id}`)
}

async function change(
  { comments: channel, out, subject }: Call,
  run: (id: string) => Promise<unknown>,
  sentence: string,
): Promise<void> {
  const { id } = findComment(channel.all, subject)
  await run(id)
  out.report({ id }, () => sentence)
}
