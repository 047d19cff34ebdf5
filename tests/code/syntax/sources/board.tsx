import React, { useState } from "react";

interface CardProps {
  title: string;
  onMove(to: string): void;
}

type Column = { name: string; cards: CardProps[] };

enum Priority {
  Low = 1,
  High,
}

export function Card({ title, onMove }: CardProps): JSX.Element {
  const [open, setOpen] = useState<boolean>(false);

  const toggle = () => setOpen(!open);

  return (
    <article onClick={toggle} className={open ? "open" : "closed"}>
      <h2>{title}</h2>
      <button onClick={() => onMove("done")}>Done &rarr;</button>
    </article>
  );
}

export const Board = <T extends Column>({ columns }: { columns: T[] }) => {
  function renderColumn(column: T) {
    return (
      <section key={column.name}>
        {column.cards.map((card) => (
          <Card {...card} />
        ))}
      </section>
    );
  }
  return <main>{columns.map(renderColumn)}</main>;
};

export default class ErrorBoundary extends React.Component<{ name: string }> {
  state = { failed: false };

  static getDerivedStateFromError(): { failed: boolean } {
    return { failed: true };
  }

  private report = async (error: Error): Promise<void> => {
    console.error(this.props.name, error, Priority.High);
  };

  componentDidCatch(error: Error) {
    void this.report(error);
  }

  render() {
    return this.state.failed ? <p>Broken.</p> : this.props.children;
  }
}
