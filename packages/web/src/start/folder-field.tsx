import type { Client } from '@atrium/client/client'
import { AhpError, errorCodes } from '@atrium/protocol/errors'
import { fileUri } from '@atrium/protocol/file-uri'
import { Folder } from 'lucide'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { useMay } from '../link/role.ts'
import { Icon } from '../ui/icon.tsx'
import { Suggestions, optionId } from '../ui/suggestions.tsx'
import { listedFolder, offeredFolders } from './folder-names.ts'

interface Props {
  readonly client: Client
  readonly path: string
  /** Folders in which sessions have worked lately, the newest first. */
  readonly recent: readonly string[]
  readonly onPick: (path: string) => void
}

/** The folder of a new session. A person types its path or some of its letters, or picks one of the list. */
export function FolderField({ client, path, recent, onPick }: Props) {
  const owns = useMay('own')
  const [typed, setTyped] = useState<string>()
  const [open, setOpen] = useState(false)
  const [chosen, setChosen] = useState<number>()
  const field = useRef<HTMLInputElement>(null)
  /** Whether the mouse button that gave the field the focus is still down. */
  const clicked = useRef(false)
  const list = useId()
  const { folders, problem, closed } = useFolders(client, listedFolder(typed, path))
  const offered = open ? offeredFolders(typed, path, recent, folders) : []
  // A whole path is taken as it is typed. Letters of a name take the first folder that has them.
  const isPath = typed === undefined || typed.startsWith('/')
  const active = chosen ?? (isPath ? -1 : 0)
  const type = (text: string | undefined) => {
    setTyped(text)
    setChosen(undefined)
  }
  const close = () => {
    setOpen(false)
    type(undefined)
  }
  const pick = (picked: string) => {
    close()
    onPick(picked.replace(/(.)\/+$/, '$1'))
  }
  const key = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    const first = offered[Math.max(active, 0)]
    if (step !== undefined && offered.length > 0) {
      setOpen(true)
      setChosen((active + step + offered.length) % offered.length)
    } else if (event.key === 'Tab' && typed !== undefined && first && !event.shiftKey) type(`${first.path}/`)
    else if (event.key === 'Enter') {
      const taken = offered[active]?.path ?? (isPath ? typed : undefined)
      if (taken === undefined) return
      pick(taken)
    } else if (event.key === 'Escape' && open) close()
    else return
    event.preventDefault()
  }
  return (
    <div class="folder-field">
      <label>
        <Icon of={Folder} size={14} />
        <span class="hidden">Folder</span>
        <input
          ref={field}
          type="text"
          role="combobox"
          autocomplete="off"
          spellcheck={false}
          aria-autocomplete="list"
          aria-expanded={offered.length > 0}
          aria-controls={list}
          aria-activedescendant={offered[active] && optionId(list, active)}
          title={path}
          value={typed ?? path}
          onMouseDown={() => (clicked.current = document.activeElement !== field.current)}
          onMouseUp={(event) => {
            // The browser would put the caret where the mouse is, and all of the path would not be selected any more.
            if (clicked.current) event.preventDefault()
            clicked.current = false
          }}
          onFocus={() => {
            setOpen(true)
            field.current?.select()
          }}
          onInput={({ currentTarget }) => {
            setOpen(true)
            type(currentTarget.value)
          }}
          onBlur={() => (typed?.startsWith('/') ? pick(typed) : close())}
          onKeyDown={key}
        />
      </label>
      {offered.length > 0 && (
        <Suggestions
          id={list}
          label="Folders"
          items={offered.map((each) => ({ label: each.path, about: each.about }))}
          active={active}
          onActive={setChosen}
          onPick={(at) => {
            const picked = offered[at]
            if (picked) pick(picked.path)
            field.current?.blur()
          }}
        />
      )}
      {problem !== undefined && <p class="problem">{problem}</p>}
      {owns && closed && (
        <p class="quiet">
          A session can start here if the folder exists. What is inside is listed once a session works here.
        </p>
      )}
    </div>
  )
}

interface Listing {
  readonly folders: readonly string[]
  readonly problem?: string
  /** Whether the page may not list the folder because no session works there yet. */
  readonly closed?: boolean
}

const nothing: Listing = { folders: [] }

function useFolders(client: Client, path: string): Listing {
  const [listing, setListing] = useState(nothing)
  useEffect(() => {
    let current = true
    void listFolders(client, path).then((found) => current && setListing(found))
    return () => void (current = false)
  }, [client, path])
  return listing
}

async function listFolders(client: Client, path: string): Promise<Listing> {
  try {
    const { entries } = await client.ask('resourceList', { uri: fileUri(path) })
    const folders = entries.flatMap(({ name, type }) => (type === 'directory' ? [name] : []))
    return { folders: folders.toSorted((a, b) => a.localeCompare(b)) }
  } catch (error) {
    if (error instanceof AhpError && error.code === errorCodes.PermissionDenied)
      return { folders: [], closed: true }
    return { folders: [], problem: error instanceof Error ? error.message : String(error) }
  }
}
