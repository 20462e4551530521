import { filesOf } from '../../catalog/machine.ts'
import type { Uri } from '@atrium/protocol/channel'
import { pathOf } from '@atrium/protocol/file-uri'
import { plainText } from '@atrium/protocol/text/plain'
import { isSecret } from '../access/protected-files.ts'
import type { Core } from '../../kernel/core.ts'
import { TurnFailed } from '../../ports/agent.ts'
import type { InstructionFile } from '../../ports/customized.ts'
import type { ChatContext } from './approval.ts'
import { textOf } from './edit.ts'
import { etagOf, locate, readBytes, realUri } from './session-file.ts'
import type { SessionFile } from './session-file.ts'

/** The names of the files, in the order in which they are looked for. The first one that exists is used. */
const names = ['AGENTS.md', 'CLAUDE.md']

/**
 * Reads the instructions in the working directories of a chat, at most `instructionsLength` characters together. They may come
 * from a repository that nobody has read, so they lose the characters that people do not see, and a link may lead neither out of
 * the session's directories nor to a secret file. A file that cannot be used is reported.
 */
export async function instructionFiles(context: ChatContext): Promise<readonly InstructionFile[]> {
  const { core, session, chat } = context
  const own = chat.head.workingDirectories ?? []
  const directories = own.length > 0 ? own : (session.head.workingDirectories ?? [])
  const found: InstructionFile[] = []
  let room = core.limits.instructionsLength
  if (!filesOf(core)) return found
  for (const directory of new Set(directories)) {
    const file = await firstFile(context, directory)
    if (!file) continue
    const next = await readInstructions(core, file, room)
    room -= next.text.length
    found.push(next)
  }
  return found
}

/**
 * Returns the first of the files that exists in a directory. A file whose existence cannot be determined counts as
 * existing, so that its problem is reported.
 */
async function firstFile(
  { core, session, chat }: ChatContext,
  directory: Uri,
): Promise<SessionFile | undefined> {
  const named = pathOf(directory)
  if (!named.ok) return undefined
  for (const name of names) {
    const file = attempt(() => locate(session, chat, `${named.path === '/' ? '' : named.path}/${name}`))
    if (!file) return undefined
    const exists = await etagOf(core, file).then(
      (etag) => etag !== undefined,
      () => true,
    )
    if (exists) return file
  }
  return undefined
}

async function readInstructions(core: Core, file: SessionFile, room: number): Promise<InstructionFile> {
  const { uri } = file
  const unused = (problem: string) => ({ uri, text: '', isCut: false, problem })
  try {
    if (isSecret(await realUri(core, file))) return unused('it leads to a file that may hold secrets')
    const whole = textOf(await readBytes(core, file, core.limits.instructionBytes))
    if (whole.includes('\0')) return unused('the file is not text')
    const text = plainText(whole, whole.length)
    if (text.length > 0 && room === 0) return unused('there are too many instructions already')
    return { uri, text: cutTo(text, room), isCut: text.length > room }
  } catch (error) {
    if (error instanceof TurnFailed) return unused(error.message)
    throw error
  }
}

/** Cuts a text, but not in the middle of a character. */
function cutTo(text: string, length: number): string {
  return text.length <= length ? text : text.slice(0, length).replace(/[\ud800-\udbff]$/, '')
}

function attempt<T>(task: () => T): T | undefined {
  try {
    return task()
  } catch (error) {
    if (error instanceof TurnFailed) return undefined
    throw error
  }
}
