import type { Client } from '@atrium/client/client'
import type { FunctionComponent } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Empty } from '../ui/empty.tsx'

interface Props {
  readonly client: Client
  readonly session: string
  readonly chat: string
  readonly openChat: (chat: string) => void
}

let loaded: FunctionComponent<Props> | undefined

/** The past of a chat. Its code is loaded when a person first asks for it. */
export function PastView(props: Props) {
  const [View, setView] = useState(() => loaded)
  const [failed, setFailed] = useState(false)
  useEffect(() => {
    if (loaded) return
    import('../history/history-view.tsx').then(
      ({ HistoryView }) => {
        loaded = HistoryView
        setView(() => HistoryView)
      },
      () => setFailed(true),
    )
  }, [])
  if (failed) return <Empty title="This part of the page could not be loaded. Reload the page." />
  if (!View) return <Empty title="Opening the history…" />
  return <View key={props.chat} {...props} />
}
