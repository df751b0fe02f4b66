/// A program that was run with the proxy's settings but made no request through it, with advice for its users.
///
/// Asks a known program for its version, which decides whether the program reads proxy variables.
struct UnheardProgram {
    private enum Kind {
        case node, npm, go, java, deno, bun, python, other
    }

    /// Longest version that is shown, in bytes.
    private static let versionLimit = 60

    private let kind: Kind
    /// The displayed name: "Node 20.20.2", or "the command".
    private let name: String
    /// The first two numbers; nil if the program does not report them.
    private let version: (major: Int, minor: Int)?

    /// - Parameters:
    ///   - command: its words.
    ///   - versionText: the output with which a program reports its version; nil if the program cannot be run.
    init(of command: [String], versionText: (_ program: String, _ words: [String]) -> String? = Self.versionText) {
        let program = Self.program(of: command)
        let known =
            Self.known(program) ?? Self.words(ofScript: program).lazy.compactMap { Self.known(Self.program(of: $0)) }.first
            ?? (.other, "the command", nil)
        self.kind = known.kind
        let numbers = known.question.flatMap { versionText($0.program, $0.words) }.flatMap(Self.numbers(in:))
        self.version = numbers.flatMap { text in
            let parts = text.split(separator: ".").map { Int($0) }
            guard let major = parts.first ?? nil else { return nil }
            return (major, parts.count > 1 ? parts[1] ?? 0 : 0)
        }
        self.name = known.name + (numbers.map { " \($0)" } ?? "")
    }

    /// Nil for a program about which nothing is known.
    private static func known(
        _ program: String
    ) -> (kind: Kind, name: String, question: (program: String, words: [String])?)? {
        let base = program.split(separator: "/").last.map(String.init) ?? ""
        switch base {
        case "node", "nodejs": return (.node, "Node", (program, ["--version"]))
        case "npm", "npx", "yarn", "pnpm", "tsx", "ts-node", "jest", "vitest", "mocha":
            return (.npm, "\(base), which runs Node", ("node", ["--version"]))
        case "go": return (.go, "Go", (program, ["version"]))
        case "java", "mvn", "gradle", "kotlin", "scala": return (.java, base == "java" ? "Java" : base, (program, ["-version"]))
        case "deno": return (.deno, "Deno", (program, ["--version"]))
        case "bun", "bunx": return (.bun, "Bun", (program, ["--version"]))
        case "python", "python3", "pytest": return (.python, base, nil)
        default: return nil
        }
    }

    /// The command lines of a script: its interpreter with the options and, for a shell script, each line. Empty for other programs.
    private static func words(ofScript program: String) -> [[String]] {
        guard let path = ProgramSearch.file(program), let file = try? WholeFile.read(path), file.starts(with: "#!".utf8) else { return [] }
        let lines = String(decoding: file.prefix(self.scriptLimit), as: UTF8.self).split(whereSeparator: \.isNewline)
        return lines.enumerated().compactMap { number, line in
            let text = number == 0 ? line.dropFirst(2) : line
            return number > 0 && text.hasPrefix("#") ? nil : text.split(whereSeparator: { $0 == " " || $0 == "\t" }).map(String.init)
        }
    }

    /// How many bytes of a script are searched.
    private static let scriptLimit = 1 << 16

    /// One line that says what happened and what to do.
    ///
    /// - Parameter address: the address of the proxy.
    func advice(address: String) -> String {
        let reverse =
            "prefix its URLs with the value of WIRETAPE_REVERSE, as in http://\(address)/http://localhost:8000/pets"
        let start = "\(self.name) made no request through the proxy"
        switch self.kind {
        case .node where self.readsProxyVariables, .npm where self.readsProxyVariables:
            return
                "\(start). Its fetch and http read the proxy variables, but a client with an agent or dispatcher of its own does not: remove that, or \(reverse)."
        case .node, .npm:
            return
                "\(start): Node reads no proxy variables before 22.21 and 24. Use such a version, call setGlobalDispatcher(new EnvHttpProxyAgent()) of the package undici, or \(reverse)."
        case .go:
            return "\(start): Go's http.ProxyFromEnvironment leaves out localhost and 127.0.0.1. For these, \(reverse)."
        case .java:
            return
                "\(start). JAVA_TOOL_OPTIONS has the proxy's address, which a client with a ProxySelector or a connection manager of its own does not read (Apache HttpClient needs useSystemProperties()): remove that, or \(reverse)."
        case .deno, .bun:
            return "\(start): its fetch reads HTTP_PROXY and HTTPS_PROXY, its other clients may not. Use fetch, or \(reverse)."
        case .python:
            return
                "\(start). requests, urllib and httpx read the proxy variables; aiohttp does so with ClientSession(trust_env=True) only. Set that, or \(reverse)."
        case .other:
            return
                "\(start). Some programs read no proxy variables, and Go and others ignore them for localhost: \(reverse)."
        }
    }

    private var readsProxyVariables: Bool {
        guard let version else { return false }
        return version.major >= 24 || version.major == 22 && version.minor >= 21
    }

    /// The program that a command runs, after `env` and the like.
    private static func program(of command: [String]) -> String {
        var words = command[...]
        while let first = words.first {
            let base = first.split(separator: "/").last.map(String.init) ?? first
            if ["sh", "bash", "dash", "zsh"].contains(base),
                let option = words.firstIndex(where: { $0.hasPrefix("-") && $0.hasSuffix("c") }),
                option + 1 < words.endIndex
            {
                words = words[(option + 1)...].first.map { $0.split(separator: " ").map(String.init)[...] } ?? []
                continue
            }
            // Numbers belong to `timeout 5` and the like.
            let isBefore =
                self.wrappers.contains(base) || first.contains("=") || first.hasPrefix("-") || first.first?.isNumber == true
            guard isBefore else { return first }
            words = words.dropFirst()
        }
        return command.first ?? ""
    }

    /// Programs and shell words that come before the command that they run.
    private static let wrappers: Set<String> = [
        "env", "nice", "time", "exec", "command", "nohup", "timeout", "setsid", "stdbuf", "ionice", "chrt", "taskset", "if", "then", "do",
        "!", "{", "(", "&&", "||",
    ]

    private static func versionText(_ program: String, _ words: [String]) -> String? {
        ProgramOutput.text(of: program, [program] + words, seconds: 3, withErrors: true).map {
            String(decoding: $0.output.prefix(400), as: UTF8.self)
        }
    }

    /// The first number with dots in a text.
    private static func numbers(in text: String) -> String? {
        guard let start = text.firstIndex(where: { $0.isASCII && $0.isNumber }) else { return nil }
        let numbers = text[start...].prefix { $0 == "." || $0.isASCII && $0.isNumber }
        return numbers.utf8.count <= self.versionLimit ? String(numbers) : nil
    }
}
