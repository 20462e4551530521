import '../styles/settings.css'
import type { Client } from '@atrium/client/client'
import { rootUri } from '@atrium/protocol/uri'
import { ArrowLeft } from 'lucide'
import type { ComponentChildren } from 'preact'
import { useLiveChannel } from '../link/live-channel.ts'
import { failureOf } from '../link/outcome-words.ts'
import { RoleNote } from '../link/role-note.tsx'
import { useMay } from '../link/role.ts'
import { Button } from '../ui/button.tsx'
import { Agents } from './agents.tsx'
import { Devices } from './devices.tsx'
import { Grants } from './grants.tsx'
import { HostSettings } from './host-settings.tsx'
import { Section } from './row.tsx'

export interface Props {
  readonly client: Client
  /** The settings of this browser, which the page itself keeps. */
  readonly browser: ComponentChildren
  readonly onBack: () => void
  readonly say: (text: string) => void
}

/** The settings of the host and of this browser. Each says the command that does the same. */
export function SettingsView({ client, browser, onBack, say }: Props) {
  const { state } = useLiveChannel(client, 'root', rootUri)
  const owns = useMay('own')
  const values = state?.config?.values ?? {}
  const change = (key: string, value: unknown) => {
    const action = { type: 'root/configChanged', config: { [key]: value } }
    void client.dispatch(rootUri, action).then((outcome) => {
      const failure = failureOf(outcome)
      if (failure !== undefined) say(failure)
    })
  }
  return (
    <main class="main start">
      <div class="start-column settings-column">
        <h1>
          <Button icon={ArrowLeft} label="Back" look="quiet" onClick={onBack} /> Settings
        </h1>
        <Agents client={client} agents={state?.agents ?? []} />
        {owns ? (
          <>
            <Grants values={values} onChange={change} />
            <Devices client={client} say={say} />
            <HostSettings
              schema={state?.config?.schema}
              values={values}
              agents={state?.agents ?? []}
              onChange={change}
            />
          </>
        ) : (
          <RoleNote needed="own" to="see permissions and devices, or change settings of the host" />
        )}
        <Section title="This browser">{browser}</Section>
      </div>
    </main>
  )
}
