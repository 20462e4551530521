/** An event whose work the browser waits for. */
export interface ExtendableEvent extends Event {
  waitUntil(work: Promise<unknown>): void
}

export interface FetchEvent extends ExtendableEvent {
  readonly request: Request
  respondWith(answer: Promise<Response>): void
}

/** An open page of this origin. */
export interface WindowClient {
  readonly visibilityState: DocumentVisibilityState
  focus(): Promise<WindowClient>
  postMessage(message: unknown): void
}

export interface PushEvent extends ExtendableEvent {
  readonly data: { text(): string } | null
}

export interface NotificationEvent extends ExtendableEvent {
  readonly notification: Notification
}

interface Events {
  readonly install: ExtendableEvent
  readonly activate: ExtendableEvent
  readonly fetch: FetchEvent
  readonly push: PushEvent
  readonly notificationclick: NotificationEvent
}

/**
 * The global scope of a service worker, as far as it is used. The types of workers and of pages exclude each other in one
 * program, so these few are written here.
 */
export interface WorkerScope {
  readonly location: Location
  addEventListener<K extends keyof Events>(type: K, listener: (event: Events[K]) => void): void
  skipWaiting(): Promise<void>
  readonly registration: ServiceWorkerRegistration
  readonly clients: {
    claim(): Promise<void>
    matchAll(options: { readonly type: 'window' }): Promise<readonly WindowClient[]>
    openWindow(url: string): Promise<unknown>
  }
}
