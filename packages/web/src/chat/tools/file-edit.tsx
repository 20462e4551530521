import type { Client } from '@atrium/client/client'
import { fromBase64 } from '@atrium/protocol/text/base64'
import type { FileEdit } from '@atrium/protocol/common/content'
import { useEffect, useState } from 'preact/hooks'
import { Diff } from '../../ui/diff.tsx'
import { visibleText } from '../shared/text.ts'

interface Props {
  readonly client: Client
  readonly edit: FileEdit
}

interface Contents {
  readonly before: string
  readonly after: string
}

/** A change of a file, as a diff. Both sides are read from the host when the change is shown. */
export function FileEditView({ client, edit }: Props) {
  const [contents, setContents] = useState<Contents | string>()
  const before = edit.before?.content.uri
  const after = edit.after?.content.uri
  useEffect(() => {
    let current = true
    Promise.all([contentOf(client, before), contentOf(client, after)]).then(
      ([old, now]) => current && setContents({ before: old, after: now }),
      (error: unknown) => current && setContents(error instanceof Error ? error.message : String(error)),
    )
    return () => void (current = false)
  }, [client, before, after])
  const { added, removed } = edit.diff ?? {}
  return (
    <figure class="edit">
      <figcaption>
        <span class="edit-path">{pathOf(edit)}</span>
        <span class="edit-kind">{kindOf(edit)}</span>
        {added !== undefined && <span class="plus">+{added}</span>}
        {removed !== undefined && <span class="minus">−{removed}</span>}
      </figcaption>
      {contents === undefined && <p class="quiet">Reading the change…</p>}
      {typeof contents === 'string' && <p class="problem">The change cannot be shown: {contents}</p>}
      {typeof contents === 'object' && <Diff before={contents.before} after={contents.after} />}
    </figure>
  )
}

function pathOf({ before, after }: FileEdit): string {
  const uri = after?.uri ?? before?.uri ?? ''
  try {
    return visibleText(decodeURIComponent(uri.replace(/^file:\/\//, '')))
  } catch {
    return visibleText(uri)
  }
}

function kindOf({ before, after }: FileEdit): string {
  return before === undefined ? 'new file' : after === undefined ? 'deleted' : 'changed'
}

async function contentOf(client: Client, uri: string | undefined): Promise<string> {
  if (uri === undefined) return ''
  const { data, encoding } = await client.ask('resourceRead', { uri, encoding: 'utf-8' })
  if (encoding === 'utf-8') return data
  return new TextDecoder().decode(fromBase64(data))
}
