import type { Client } from '@atrium/client/client'
import { NotifyButton } from './notify-button.tsx'
import { Row } from '../settings/row.tsx'
import { useStored } from '../ui/use-stored.ts'
import { applyDensity, densities, densityKey } from './density.ts'

interface Props {
  readonly client: Client
  readonly singleKeys: boolean
  readonly onSingleKeys: (on: boolean) => void
  readonly say: (text: string) => void
}

/** The settings that this browser keeps. */
export function BrowserSettings({ client, singleKeys, onSingleKeys, say }: Props) {
  const [density, setDensity] = useStored(densityKey, densities)
  return (
    <>
      <Row title="Density" about="How much room everything takes.">
        <select
          aria-label="Density"
          value={density}
          onChange={({ currentTarget }) => {
            const next = densities.find((each) => each === currentTarget.value) ?? 'comfortable'
            setDensity(next)
            applyDensity(next)
          }}
        >
          {densities.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      </Row>
      <Row title="Keys without Ctrl" about="They are shortcuts where nobody types. Press ? for all of them.">
        <input
          type="checkbox"
          aria-label="Keys without Ctrl"
          checked={singleKeys}
          onChange={({ currentTarget }) => onSingleKeys(currentTarget.checked)}
        />
      </Row>
      <Row
        title="Notifications"
        about="This browser is told when a session needs you. A page without TLS cannot get them."
        command="atrium notifications"
      >
        <NotifyButton client={client} say={say} />
      </Row>
    </>
  )
}
