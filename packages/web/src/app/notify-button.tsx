import type { Client } from '@atrium/client/client'
import { useLink } from '@atrium/client/react'
import { Bell, BellRing } from 'lucide'
import { useEffect, useState } from 'preact/hooks'
import { offers } from '../link/extension.ts'
import {
  announce,
  canSubscribe,
  presentSubscription,
  subscribe,
  unsubscribe,
} from '../link/push-subscription.ts'
import { Button } from '../ui/button.tsx'

interface Props {
  readonly client: Client
  readonly say: (text: string) => void
}

/**
 * The button that turns notifications of this browser on and off. It is shown only if the browser can get
 * notifications and the host sends them.
 */
export function NotifyButton({ client, say }: Props) {
  const { state } = useLink(client)
  const [isOn, setOn] = useState(false)
  const isLive = state === 'live'
  const isOffered = isLive && canSubscribe() && offers(client, 'x-atrium/subscribePush')
  useEffect(() => {
    if (!isOffered) return
    presentSubscription()
      .then(async (subscription) => {
        setOn(subscription !== undefined)
        // The subscription is announced again, because the host may have lost it, or may be another host at the same
        // address.
        if (subscription) await announce(client, subscription)
      })
      .catch(() => setOn(false))
  }, [client, isOffered])
  if (!isOffered) return null
  const toggle = async () => {
    try {
      await (isOn ? unsubscribe(client) : subscribe(client))
      setOn(!isOn)
      say(
        isOn
          ? 'This browser is not notified any more.'
          : 'This browser is notified when a session needs you or its work has ended, unless you see the page.',
      )
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      say(`Notifications could not be turned ${isOn ? 'off' : 'on'}: ${reason}.`)
    }
  }
  return (
    <Button
      icon={isOn ? BellRing : Bell}
      label="Notifications"
      title={isOn ? 'Notifications are on' : 'Notify me when a session needs me'}
      look="quiet"
      pressed={isOn}
      onClick={() => void toggle()}
    />
  )
}
