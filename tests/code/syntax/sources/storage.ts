import { Injectable, Inject } from "./di";

export interface Store<K, V> {
  get(key: K): V | undefined;
  readonly size: number;
}

export type Listener<T> = (value: T) => void;

export const enum Mode {
  Read = "r",
  Write = "w",
}

declare const VERSION: string;
declare function nativeHash(text: string): number;

export function open(path: string): Store<string, string>;
export function open(path: string, mode: Mode): Store<string, string>;
export function open(path: string, mode: Mode = Mode.Read): Store<string, string> {
  return new FileStore(path, mode);
}

export abstract class BaseStore<V> implements Store<string, V> {
  protected readonly items = new Map<string, V>();

  constructor(protected readonly path: string, private mode: Mode) {}

  abstract load(): Promise<void>;

  protected abstract decode(text: string): V;

  get size(): number {
    return this.items.size;
  }

  get(key: string): V | undefined {
    return this.items.get(key);
  }
}

@Injectable({ scope: "app" })
export class FileStore extends BaseStore<string> {
  private listeners: Listener<string>[] = [];

  // kept as a field: it is handed out as a callback
  private notify = (value: string): void => {
    this.listeners.forEach((listener) => listener(value));
  };

  static from(path: string): FileStore;
  static from(path: URL): FileStore;
  static from(path: string | URL): FileStore {
    return new FileStore(String(path), Mode.Read);
  }

  @Inject("clock")
  async load(): Promise<void> {
    const text = await read(this.path);
    for (const line of text.split("\n")) this.notify(this.decode(line));
  }

  protected decode(text: string): string {
    return text.trim();
  }

  set limit(
    value: number, // in bytes
  ) {
    this.#shrink(value);
  }

  #shrink<T extends number>(to: T): void {
    while (this.size > to) this.items.delete(this.items.keys().next().value!);
  }
}

export namespace Paths.Posix {
  export const separator = "/";

  export function join(...parts: string[]): string {
    return parts.join(separator);
  }

  export class Walker {
    next(): string | null {
      return null;
    }
  }
}

declare module "legacy-store" {
  export function connect(url: string): void;
  export class Client {
    close(): void;
  }
}

const read = async (path: string): Promise<string> => {
  const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return decode(await fetchBytes(path));
};

export default async function (url: string) {
  return open(url);
}
