import type { Client } from '@atrium/client/client'
import { AhpError, errorCodes } from '@atrium/protocol/errors'
import { fileUri } from '@atrium/protocol/file-uri'
import { CornerLeftUp, Folder, History } from 'lucide'
import { useEffect, useState } from 'preact/hooks'
import { useMay } from '../link/role.ts'
import { Button } from '../ui/button.tsx'
import { Icon } from '../ui/icon.tsx'

interface Props {
  readonly client: Client
  readonly path: string
  /** Folders in which sessions have worked lately, the newest first. */
  readonly recent: readonly string[]
  readonly onPick: (path: string) => void
}

interface Listing {
  readonly path: string
  readonly folders: readonly string[]
  readonly problem?: string
  /** Whether the page may not list the folder because no session works there yet. */
  readonly closed?: boolean
}

/** Chooses a folder on the host's machine. A person types the path, or opens folder after folder. */
export function FolderPicker({ client, path, recent, onPick }: Props) {
  const owns = useMay('own')
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
      {recent.length > 0 && (
        <div class="recent-folders" role="group" aria-label="Recent folders">
          {recent.map((each) => (
            <button key={each} type="button" onClick={() => onPick(each)}>
              <Icon of={History} /> {each}
            </button>
          ))}
        </div>
      )}
      {listing?.problem !== undefined && <p class="problem">{listing.problem}</p>}
      {owns && listing?.closed && (
        <p class="quiet">
          A session can start here if the folder exists. What is inside is listed once a session works here.
        </p>
      )}
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
        {listing && listing.problem === undefined && !listing.closed && folders.length === 0 && (
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
    if (error instanceof AhpError && error.code === errorCodes.PermissionDenied)
      return { path, folders: [], closed: true }
    return { path, folders: [], problem: error instanceof Error ? error.message : String(error) }
  }
}
