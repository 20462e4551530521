import type { Client } from '@atrium/client/client'
import { fileUri } from '@atrium/protocol/file-uri'
import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { PlacesProvider } from '../../markdown/places.ts'
import type { Place } from '../../markdown/places.ts'
import { Copy } from '../../ui/copy.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { DiffLine } from '../../ui/diff/diff-line.tsx'
import { useLineColours } from '../../ui/highlight/line-colours.ts'
import { readText } from './file-contents.ts'
import { visibleText } from './text.ts'

interface Props {
  readonly client: Client
  /** The folder of the session: paths in texts are relative to it. */
  readonly folder: string | undefined
  readonly children: ComponentChildren
}

/** Lets the texts inside open the files that they name, each at its line. */
export function FilePlaces({ client, folder, children }: Props) {
  const [place, setPlace] = useState<Place>()
  return (
    <PlacesProvider value={setPlace}>
      {children}
      {place && (
        <FileDialog client={client} folder={folder} place={place} onClose={() => setPlace(undefined)} />
      )}
    </PlacesProvider>
  )
}

interface DialogProps extends Pick<Props, 'client' | 'folder'> {
  readonly place: Place
  readonly onClose: () => void
}

/** The number of lines that are shown before and after the line that was named. */
const around = 200

/** A file around a line of it. */
function FileDialog({ client, folder, place: { path, line }, onClose }: DialogProps) {
  const [read, setRead] = useState<{ readonly text?: string; readonly problem?: string }>({})
  const here = useRef<HTMLDivElement>(null)
  useEffect(() => {
    let current = true
    const inside = `${folder ?? ''}/${fileUri(path.replace(/^\.\//, '')).slice('file://'.length)}`
    readText(client, path.startsWith('/') ? fileUri(path) : inside).then(
      (text) => current && setRead({ text }),
      (error: unknown) =>
        current && setRead({ problem: error instanceof Error ? error.message : String(error) }),
    )
    return () => void (current = false)
  }, [client, folder, path])
  const lines = useMemo(() => read.text?.split('\n') ?? [], [read.text])
  const colours = useLineColours(path, read.text ?? '')
  useEffect(() => here.current?.scrollIntoView({ block: 'center' }), [read.text])
  const first = Math.max(0, line - 1 - around)
  return (
    <Dialog title={`${visibleText(path)}, line ${line}`} wide onClose={onClose}>
      {read.problem !== undefined && (
        <p class="problem" role="alert">
          The file cannot be shown: {read.problem}
        </p>
      )}
      {read.text === undefined && read.problem === undefined && <p class="quiet">Reading the file…</p>}
      {read.text !== undefined && line > lines.length && (
        <p class="quiet">The file now has {lines.length === 1 ? '1 line' : `${lines.length} lines`}.</p>
      )}
      {lines.length > 0 && (
        <div class="diff file" tabIndex={0} role="group" aria-label="File">
          {lines.slice(first, line + around).map((text, at) => {
            const cell = { line: first + at, text: `${text}\n` }
            const row = { kind: 'line', same: true, before: cell, after: cell } as const
            const isHere = cell.line === line - 1
            return (
              <div key={at} ref={isHere ? here : null} class={isHere ? 'here' : ''}>
                <DiffLine row={row} colours={{ before: undefined, after: colours }} />
              </div>
            )
          })}
        </div>
      )}
      <footer class="dialog-foot">
        <Copy text={`${path}:${line}`} label="Copy the path" />
      </footer>
    </Dialog>
  )
}
