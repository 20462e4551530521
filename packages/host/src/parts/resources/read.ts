import { encoderOf } from '../../catalog/machine.ts'
import { readBudgetOf } from './read-budget.ts'
import type { Params, Result } from '@atrium/protocol/commands'
import { AhpError } from '@atrium/protocol/errors'
import { JsonResult, LinkClosed } from '@atrium/protocol/rpc/peer'
import { toBase64 } from '@atrium/protocol/text/base64'
import { compact } from '@atrium/protocol/update'
import { containedPath } from '../access/roots.ts'
import type { Core } from '../../kernel/core.ts'
import type { Link } from '../../kernel/link.ts'
import type { Reader, Reservation } from './read-budget.ts'
import type { ContentForm } from '../../ports/content-encoder.ts'
import { FileError } from '../../ports/files.ts'
import { askClient, isFile } from './client-files.ts'
import type { ClientRequest } from './client-files.ts'
import { contentTypeOf } from './content-type.ts'
import { isContent, readContent } from '../../channels/content/content.ts'
import { attempt } from './resources.ts'

/** Reads a resource for an agent. */
export async function resourceRead(
  core: Core,
  requester: ClientRequest,
  params: Params<'resourceRead'>,
): Promise<Result<'resourceRead'>> {
  const { uri } = params
  if (!isContent(uri) && !isFile(uri)) return askClient(core, requester, 'resourceRead', params)
  const { value, form, reservation } = await readBytes(core, requester, params)
  try {
    return contentOf(value, form)
  } finally {
    reservation.release()
  }
}

/**
 * Reads a resource for a client. The response counts towards the limit for bytes that are being read and sent, until
 * the client has read it.
 */
export async function answerRead(core: Core, link: Link, params: Params<'resourceRead'>): Promise<object> {
  const { uri } = params
  if (!isContent(uri) && !isFile(uri)) return askClient(core, link, 'resourceRead', params)
  const { value, form, reservation } = await readBytes(core, link, params)
  return respond(reservation, async () => {
    const encoder = value.length > largeBytes ? encoderOf(core) : undefined
    return encoder ? encoder.encode(value, form) : JSON.stringify(contentOf(value, form))
  })
}

export async function answerList(core: Core, link: Link, params: Params<'resourceList'>): Promise<object> {
  const { uri } = params
  if (!isFile(uri)) return askClient(core, link, 'resourceList', params)
  const place = containedPath(core, uri, 'browse')
  const list = (most: number) =>
    attempt(core, uri, 'browse', (files) => unlessUnfit(files.list(place, most), most < core.limits.entries))
  const most = [Math.min(smallList, core.limits.entries), core.limits.entries] as const
  const { value, reservation } = await readInBudget(core, link, most, list)
  const entries = value.toSorted(({ name: a }, { name: b }) => (a < b ? -1 : 1))
  return respond(reservation, async () => JSON.stringify({ entries }))
}

interface Read<T> {
  readonly value: T
  readonly reservation: Reservation
}

/** Reads a file, or content that is stored apart from the log. Waits until the bytes fit into the read budget. */
async function readBytes(
  core: Core,
  reader: Reader,
  { uri, encoding }: Params<'resourceRead'>,
): Promise<Read<Uint8Array> & { readonly form: ContentForm }> {
  const most = core.limits.readBytes
  if (isContent(uri)) {
    const read = await hold(await readBudgetOf(core).reserve(reader, most), async () =>
      (await readContent(core, uri))?.slice(),
    )
    if (read.value) return { ...read, value: read.value, form: compact<ContentForm>({ asked: encoding }) }
    read.reservation.release()
    throw AhpError.notFound(`there is no ${JSON.stringify(uri.slice(0, 200))}`)
  }
  const place = containedPath(core, uri, 'read')
  const read = (max: number) =>
    attempt(core, uri, 'read', (files) => unlessUnfit(files.read(place, max), max < most))
  const found = await readInBudget(core, reader, [Math.min(smallBytes, most), most], read)
  found.reservation.resize(found.value.length)
  return { ...found, form: compact<ContentForm>({ asked: encoding, contentType: contentTypeOf(place.path) }) }
}

/**
 * Reads something, and reserves bytes of the read budget for it. The size is known only after the file is opened, and
 * most files are small. So the first attempt reserves few bytes. If the file does not fit, a second attempt reserves
 * the maximum of one read. A first attempt that hangs therefore occupies little of the budget.
 */
async function readInBudget<T>(
  core: Core,
  reader: Reader,
  [small, full]: readonly [small: number, full: number],
  read: (most: number) => Promise<T | undefined>,
): Promise<Read<T>> {
  const first = await hold(await readBudgetOf(core).reserve(reader, smallBytes), () => read(small))
  if (first.value !== undefined) return { ...first, value: first.value }
  first.reservation.release()
  if (first.reservation.unwanted) throw ended()
  const { value, reservation } = await hold(
    await readBudgetOf(core).reserve(reader, core.limits.readBytes),
    () => read(full),
  )
  if (value !== undefined) return { value, reservation }
  reservation.release()
  throw AhpError.internalError()
}

/** Runs a task with a reservation. If the task fails, or the link has ended, the reservation ends. */
async function hold<T>(reservation: Reservation, task: () => Promise<T>): Promise<Read<T>> {
  try {
    const value = await task()
    if (reservation.unwanted) throw ended()
    return { value, reservation }
  } catch (error) {
    reservation.release()
    throw error
  }
}

async function respond(
  reservation: Reservation,
  encode: () => Promise<string | Uint8Array>,
): Promise<JsonResult> {
  const { value: json } = await hold(reservation, encode)
  reservation.resize(json.length)
  return new JsonResult(json, () => reservation.sent())
}

/**
 * Returns the result of a read. If the file is too large for the limit of the read: returns undefined if `again` is
 * true, so that the caller reads again with a higher limit, and otherwise throws.
 */
async function unlessUnfit<T>(reading: Promise<T>, again: boolean): Promise<T | undefined> {
  try {
    return await reading
  } catch (error) {
    if (again && error instanceof FileError && error.reason === 'unfit') return undefined
    throw error
  }
}

/** Returns bytes as text. Returns base64 if the request asks for it, or if the bytes are not UTF-8. */
export function contentOf(bytes: Uint8Array, { asked, contentType }: ContentForm): Result<'resourceRead'> {
  const text = asked === 'base64' ? undefined : textOf(bytes, asked === undefined)
  const content =
    text === undefined
      ? ({ data: toBase64(bytes), encoding: 'base64' } as const)
      : ({ data: text, encoding: 'utf-8' } as const)
  return compact<Result<'resourceRead'>>({ ...content, contentType })
}

function textOf(bytes: Uint8Array, guessing: boolean): string | undefined {
  if (guessing && bytes.subarray(0, 8192).includes(0)) return undefined
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}

const ended = () => new LinkClosed('the connection has ended')

// The byte order mark is a part of the file: a client that writes the text back must not lose it.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * The number of bytes that the first attempt of a read or listing reserves. The first attempt of a listing fails if
 * the directory has more than `smallList` entries.
 */
const smallBytes = 256 * 1024
const smallList = 1000
/** The number of bytes from which on the content is encoded outside the event loop. */
const largeBytes = 64 * 1024
