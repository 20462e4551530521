// Encodes the content of files as JSON. It runs in a thread of its own, because base64 and JSON of a large file take tens of
// milliseconds.
import { parentPort } from 'node:worker_threads'
import type { ContentForm } from '@atrium/host/ports/content-encoder'

/** A message to this thread: content to encode. */
export interface EncoderInput extends ContentForm {
  readonly id: number
  readonly bytes: Uint8Array
}

/** A message of this thread: the content as JSON. */
export interface EncoderOutput {
  readonly id: number
  readonly json: Uint8Array
}

if (!parentPort) throw new Error('this file is the entry of a worker thread')
const port = parentPort

// The byte order mark is a part of the file.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

port.on('message', ({ id, bytes, ...form }: EncoderInput) => {
  const json = jsonOf(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), form)
  port.postMessage({ id, json } satisfies EncoderOutput, [json.buffer])
})

function jsonOf(bytes: Buffer, { asked, contentType }: ContentForm): Buffer<ArrayBuffer> {
  const text = asked === 'base64' ? undefined : textOf(bytes, asked === undefined)
  const type = contentType === undefined ? '' : `,"contentType":${JSON.stringify(contentType)}`
  if (text !== undefined) return ownBytes(`{"data":${JSON.stringify(text)},"encoding":"utf-8"${type}}`)
  // Base64 needs no escapes, so it is written directly between the other members. This avoids a string of the whole JSON text.
  const start = '{"data":"'
  const end = `","encoding":"base64"${type}}`
  const length = Math.ceil(bytes.length / 3) * 4
  const json = Buffer.from(new ArrayBuffer(start.length + length + Buffer.byteLength(end)))
  json.write(start, 0, 'latin1')
  json.write(bytes.toString('base64'), start.length, 'latin1')
  json.write(end, start.length + length)
  return json
}

function textOf(bytes: Buffer, guessing: boolean): string | undefined {
  if (guessing && bytes.subarray(0, 8192).includes(0)) return undefined
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}

/** The UTF-8 bytes of a text, in a buffer that can be transferred: small buffers of Node share memory. */
function ownBytes(text: string): Buffer<ArrayBuffer> {
  const bytes = Buffer.from(new ArrayBuffer(Buffer.byteLength(text)))
  bytes.write(text)
  return bytes
}
