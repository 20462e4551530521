import type { Client } from '@atrium/client/client'
import type { FileEdit, FileEditSide } from '@atrium/protocol/common/content'
import { fromBase64 } from '@atrium/protocol/text/base64'
import { useEffect, useState } from 'preact/hooks'

/** Both sides of a change of a file. A missing file is empty. */
export interface FileContents {
  readonly before: string
  readonly after: string
}

/**
 * Reads both sides of a change from the host. Returns undefined until they are read, and the reason if that fails.
 * While a file on the disk changes, the last contents stay until the new ones are read.
 */
export function useFileContents(client: Client, edit: FileEdit): FileContents | string | undefined {
  const [contents, setContents] = useState<FileContents | string>()
  const { before, after } = edit
  useEffect(() => {
    let current = true
    Promise.all([contentOf(client, before), contentOf(client, after)]).then(
      ([old, now]) => current && setContents({ before: old, after: now }),
      (error: unknown) => current && setContents(error instanceof Error ? error.message : String(error)),
    )
    return () => void (current = false)
  }, [client, versionOf(before), versionOf(after)])
  return contents
}

/** Names a content. The URI of a file on the disk stays the same when the file changes; its nonce does not. */
function versionOf(side: FileEditSide | undefined): string | undefined {
  return side && `${side.content.uri} ${side.content.nonce ?? ''}`
}

async function contentOf(client: Client, side: FileEditSide | undefined): Promise<string> {
  return side ? readText(client, side.content.uri) : ''
}

export async function readText(client: Client, uri: string): Promise<string> {
  const { data, encoding } = await client.ask('resourceRead', { uri, encoding: 'utf-8' })
  if (encoding === 'utf-8') return data
  return new TextDecoder().decode(fromBase64(data))
}
