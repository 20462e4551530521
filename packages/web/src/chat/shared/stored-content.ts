import type { Client } from '@atrium/client/client'
import { fromBase64, toBase64 } from '@atrium/protocol/text/base64'

/** Content as it was read from the host. */
export interface Stored {
  readonly base64: string
  /** The content as text. Undefined: it is none. */
  readonly text: string | undefined
}

/** Reads content from the host. A content that is valid UTF-8 is also a text. */
export async function readContent(client: Client, uri: string): Promise<Stored> {
  const { data, encoding } = await client.ask('resourceRead', { uri, encoding: 'base64' })
  if (encoding === 'utf-8') return { base64: toBase64(new TextEncoder().encode(data)), text: data }
  return { base64: data, text: textIn(bytesOf(data)) }
}

/** Gives content to the browser as a download. Its type is one that no browser shows, so that it never runs as a page. */
export function saveContent({ base64 }: Stored, name: string): void {
  const blob = new Blob([bytesOf(base64)], { type: 'application/octet-stream' })
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  // The browser reads the content when it begins the download, which is after this task.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(fromBase64(base64) ?? [])
}

function textIn(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}
