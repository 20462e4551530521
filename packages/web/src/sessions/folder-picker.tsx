import type { Client } from '@atrium/client/client'
import { fileUri } from '@atrium/protocol/file-uri'
import { CornerLeftUp, Folder } from 'lucide'
import { useEffect, useState } from 'preact/hooks'
import { Button } from '../ui/button.tsx'
import { Icon } from '../ui/icon.tsx'

interface Props {
  readonly client: Client
  readonly path: string
  readonly onPick: (path: string) => void
}

interface Listing {
  readonly path: string
  readonly folders: readonly string[]
  readonly problem?: string
}

/** Chooses a folder on the host's machine. A person types the path, or opens folder after folder. */
export function FolderPicker({ client, path, onPick }: Props) {
  const [listing, setListing] = useState<Listing>()
  const [hidden, setHidden] = useState(false)
  useEffect(() => {
    let current = true
    void listFolders(client, path).then((found) => {
      if (current) setListing(found)
    })
    return () => void (current = false)
  }, [client, path])
  const folders = (listing?.folders ?? []).filter((name) => hidden || !name.startsWith('.'))
  const inside = path === '/' ? '' : path
  return (
    <div class="folders">
      <label class="field">
        <span>Folder</span>
        <input
          type="text"
          spellcheck={false}
          value={path}
          onChange={(event) => onPick(event.currentTarget.value.replace(/(.)\/+$/, '$1'))}
        />
      </label>
      {listing?.problem !== undefined && <p class="problem">{listing.problem}</p>}
      <div class="folder-list" role="group" aria-label="Folders inside">
        {path !== '/' && (
          <button type="button" onClick={() => onPick(path.replace(/\/[^/]*$/, '') || '/')}>
            <Icon of={CornerLeftUp} /> one up
          </button>
        )}
        {folders.map((name) => (
          <button key={name} type="button" onClick={() => onPick(`${inside}/${name}`)}>
            <Icon of={Folder} /> {name}
          </button>
        ))}
        {!listing && <p class="quiet">Reading the folder…</p>}
        {listing && listing.problem === undefined && folders.length === 0 && (
          <p class="quiet">
            {listing.folders.length > 0 ? 'Only hidden folders inside.' : 'No folders inside.'}
          </p>
        )}
      </div>
      <Button look="quiet" pressed={hidden} onClick={() => setHidden(!hidden)}>
        {hidden ? 'Without hidden folders' : 'With hidden folders'}
      </Button>
    </div>
  )
}

async function listFolders(client: Client, path: string): Promise<Listing> {
  try {
    const { entries } = await client.ask('resourceList', { uri: fileUri(path) })
    const folders = entries.flatMap(({ name, type }) => (type === 'directory' ? [name] : []))
    return { path, folders: folders.toSorted((a, b) => a.localeCompare(b)) }
  } catch (error) {
    return { path, folders: [], problem: error instanceof Error ? error.message : String(error) }
  }
}
