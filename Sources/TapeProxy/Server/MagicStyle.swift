/// The style sheet of the magic host's page: dark or light as the reader has it, from phones to wide screens.
enum MagicStyle {
    static let css = """

        :root { color-scheme: light dark; --text: #1f2328; --faint: #59636e; --back: #ffffff; --box: #f4f6f8; --line: #d1d9e0; --link: #0759bd;
          --good: #1a7f37; --bad: #a8320a; }
        @media (prefers-color-scheme: dark) { :root { --text: #e6edf3; --faint: #9aa4af; --back: #101418; --box: #1a2027; --line: #353d46;
          --link: #74b3ff; --good: #4cc26b; --bad: #ff9f6e; } }
        * { box-sizing: border-box; }
        html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; overflow-wrap: break-word; }
        body { margin: 0; background: var(--back); color: var(--text); font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
        main { max-width: 46rem; margin: 0 auto; padding: 2rem 1.25rem 3rem; }
        h1 { margin: 0 0 .5rem; font-size: 1.75rem; line-height: 1.2; }
        h2 { margin: 2.25rem 0 .5rem; font-size: 1.2rem; line-height: 1.3; }
        p { margin: .5rem 0; }
        a { color: var(--link); }
        code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: .875em; }
        code { padding: .1em .3em; background: var(--box); border-radius: .3em; white-space: nowrap; }
        code bdi { white-space: normal; overflow-wrap: anywhere; }
        pre { margin: .5rem 0; padding: .7rem .85rem; background: var(--box); border: 1px solid var(--line); border-radius: .5rem; overflow-x: auto; }
        pre code { padding: 0; background: none; white-space: pre; }
        .fingerprint { display: block; max-width: calc(48ch + 1.5rem); margin: .3rem 0; padding: .3rem .6rem; white-space: normal; }
        dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(7.5rem, 1fr)); gap: .6rem; margin: 1rem 0; }
        dl div { display: flex; flex-direction: column-reverse; justify-content: flex-end; padding: .6rem .8rem; background: var(--box); border: 1px solid var(--line);
          border-radius: .5rem; }
        dt { color: var(--faint); font-size: .85rem; line-height: 1.3; }
        dd { margin: 0; font-size: 1.4rem; font-weight: 600; font-variant-numeric: tabular-nums; line-height: 1.3; }
        ol { margin: .5rem 0; padding-left: 1.4rem; }
        li { margin: .3rem 0; }
        .trust img { vertical-align: middle; color: var(--bad); font-weight: 600; }
        .files { display: flex; flex-wrap: wrap; gap: .6rem; margin: 1rem 0; padding: 0; list-style: none; }
        .files li { flex: 1 1 9rem; display: flex; margin: 0; }
        .files a { flex: 1; padding: .6rem .8rem; border: 1px solid var(--line); border-radius: .5rem; background: var(--box);
          text-decoration: none; font-weight: 600; }
        .files a:hover { border-color: var(--link); }
        .files span { display: block; color: var(--faint); font-size: .85rem; font-weight: 400; }
        .faint { color: var(--faint); font-size: .9rem; }
        details { border: 1px solid var(--line); border-bottom-width: 0; padding: 0 .9rem; }
        details:first-of-type { border-radius: .5rem .5rem 0 0; }
        details:last-of-type { border-bottom-width: 1px; border-radius: 0 0 .5rem .5rem; }
        summary { padding: .65rem 0; font-weight: 600; cursor: pointer; }
        details[open] { padding-bottom: .7rem; }

        """
}
