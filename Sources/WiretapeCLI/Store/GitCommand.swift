internal import ArgumentParser
internal import CassetteModel
internal import CassettePlayback
internal import CassetteStore
internal import CassetteTools
internal import Platform
internal import TapeProxy

struct GitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "git",
        abstract: "Merge and compare cassettes in git, exchange by exchange.",
        subcommands: [GitInstallCommand.self, GitMergeCommand.self, GitDiffCommand.self])
}

struct GitInstallCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "install",
        abstract: "Let git use Wiretape to merge and compare the cassettes of this repository.",
        discussion: """
            Adds lines to .gitattributes, which you commit, and a driver to this clone's own configuration, which git never copies: \
            everybody runs this once. Where the program is missing, git merges and compares the files as text. Servers merge as text too: \
            let CI run "wiretape verify".

            Examples:
              wiretape git install
              wiretape git install 'Fixtures/*.json'
            """)

    /// The cassettes' usual folder, at any depth.
    private static let pattern = "**/Cassettes/**/*.json"

    @Argument(
        help: ArgumentHelp("The patterns of .gitattributes for the cassettes. Default: **/Cassettes/**/*.json.", valueName: "pattern"))
    var patterns: [String] = []

    func validate() throws {
        for pattern in self.patterns where pattern.isEmpty || pattern.utf8.contains(where: { $0 <= 32 || $0 == 127 || $0 == 34 }) {
            throw ValidationError(
                "\"\(VisibleText.line(pattern))\" has white space or quotes, which .gitattributes cannot hold: use ? for them.")
        }
    }

    /// Without the program, git merges the text: a driver that cannot be started would keep one side without a word.
    static let mergeDriver =
        #"sh -c 'command -v "$1" >/dev/null && exec "$@"; git merge-file -L ours -L base -L theirs "$5" "$4" "$6"' -- wiretape git merge %O %A %B %P"#
    static let diffDriver =
        #"sh -c 'command -v "$1" >/dev/null && exec "$@"; git --no-pager diff --no-index --no-ext-diff -- "$5" "$8"; exit 0' -- wiretape git diff"#

    func run() throws {
        SignalThread.unblock()
        try CommandEnd.run {
            let root = try Self.git(["rev-parse", "--show-toplevel"]).filter { $0 != "\n" }
            for (name, value) in [
                ("merge.wiretape.name", "cassettes, exchange by exchange"), ("merge.wiretape.driver", Self.mergeDriver),
                ("diff.wiretape.command", Self.diffDriver),
            ] { _ = try Self.git(["config", "--local", name, value]) }
            let path = "\(root)/.gitattributes"
            var text = ""
            if access(path, F_OK) == 0 { text = String(decoding: try WholeFile.read(path), as: UTF8.self) }
            let lines = (self.patterns.isEmpty ? [Self.pattern] : self.patterns).map { "\($0) merge=wiretape diff=wiretape" }
            let known = Set(text.split(separator: "\n").map(String.init))
            let new = lines.filter { !known.contains($0) }
            if !new.isEmpty {
                if !text.isEmpty, !text.hasSuffix("\n") { text += "\n" }
                try WholeFile.replace(path, with: Array((text + new.joined(separator: "\n") + "\n").utf8), mode: 0o644)
            }
            Terminal.output.line(
                "git uses Wiretape in this clone\(new.isEmpty ? "" : "; commit \"\(VisibleText.line(path))\""). Everybody else runs \"wiretape git install\" once."
            )
            return ExitStatus.done
        }
    }

    private static func git(_ words: [String]) throws -> String {
        guard let result = ProgramOutput.text(of: "git", ["git"] + words, withErrors: false) else {
            throw SettingError("git cannot be run: install it.")
        }
        guard result.status == 0 else {
            throw SettingError("\"git \(words.prefix(3).joined(separator: " "))\" failed (\(result.status)): run this inside a repository.")
        }
        return String(decoding: result.output, as: UTF8.self)
    }
}

struct GitMergeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "merge",
        abstract: "Git's merge driver: merge two versions of a cassette into the second file.",
        discussion: """
            An exchange that one side added, changed or removed is taken from that side; what both have stands once, in order of start. \
            If both sides changed the same exchange, both stay, with a note, and the exit code is 1. Files that are no cassettes are merged \
            as text.

            Exit codes: 0 merged, 1 conflicts.

            Example:
              wiretape git merge base.json ours.json theirs.json Cassettes/pets.json
            """)

    @Argument(help: ArgumentHelp("The common ancestor: %O.", valueName: "base"), completion: .file())
    var base: String

    @Argument(help: ArgumentHelp("This side, which gets the result: %A.", valueName: "ours"), completion: .file())
    var ours: String

    @Argument(help: ArgumentHelp("The other side: %B.", valueName: "theirs"), completion: .file())
    var theirs: String

    @Argument(help: ArgumentHelp("The file's name in the repository, for messages: %P.", valueName: "name"))
    var name: String?

    func run() throws {
        SignalThread.unblock()
        let outcome: ThreeWayMerge.Outcome
        do {
            // An empty file: both sides have created the cassette.
            let base = CassettePlace.isEmptyFile(self.base) ? nil : self.base
            outcome = try ThreeWayMerge.merge(base: base, ours: self.ours, theirs: self.theirs)
            try WholeFile.replace(self.ours, with: outcome.text, mode: 0o644)
        } catch {
            let shown = self.name ?? self.ours
            Terminal.error.complain(
                "\"\(shown)\" is merged as text, since a side is no whole cassette: \(CommandEnd.message(of: error) ?? "\(error)")")
            let words = ["git", "merge-file", "-L", "ours", "-L", "base", "-L", "theirs", self.ours, self.base, self.theirs]
            // Positive for conflicts.
            guard let result = ProgramOutput.text(of: "git", words, seconds: 600), result.status == 0 else {
                throw ExitCode(ExitStatus.different)
            }
            return
        }
        for conflict in outcome.conflicts {
            Terminal.error.complain("\"\(self.name ?? self.ours)\": \(conflict): both are in the file, with a note.")
        }
        guard outcome.conflicts.isEmpty else { throw ExitCode(ExitStatus.different) }
    }
}

struct GitDiffCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Git's diff driver: show what differs between two versions of a cassette.",
        discussion:
            "Git passes the file's name, and for each version a file, its id and its mode. Files that are no cassettes are compared as text."
    )

    @Argument(help: ArgumentHelp("The file's name in the repository.", valueName: "name"))
    var name: String

    @Argument(help: ArgumentHelp("The old file, its id and mode, the new file, its id and mode, and what git adds.", valueName: "value"))
    var values: [String] = []

    func validate() throws {
        guard self.values.count >= 6 else { throw ValidationError("this is called by git: \"wiretape git install\" sets it up.") }
    }

    func run() throws {
        SignalThread.unblock()
        let (old, new) = (self.values[0], self.values[3])
        let output = try OutputFile(path: nil)
        func write(_ text: String) throws {
            var text = text
            try text.withUTF8 { try output.write(UnsafeRawBufferPointer($0)) }
        }
        try write("cassette \(VisibleText.line(self.name))\n")
        do {
            let versions = try [old, new].map { try $0 == "/dev/null" ? nil : RecordedCassette(path: $0) }
            if let before = versions[0], let after = versions[1] {
                var page = DiffPage(isJSON: false) { try output.write($0) }
                // Git has no bodies of old versions.
                let comparison = CassetteDiff(
                    old: before, new: after, showsAll: false, checksFiles: false, digest: CareCommand.digest)
                let same = try comparison.run {
                    try page.append($0)
                }
                try page.finish(same: same)
            } else {
                for (version, sign) in [(versions[0], "-"), (versions[1], "+")] {
                    guard let version else { continue }
                    for position in 0..<version.count {
                        let interaction = try version.interaction(at: position)
                        let status = interaction.response.map { " \($0.status)" } ?? ""
                        try write(
                            "\(sign) \(position + 1) \(VisibleText.line("\(interaction.request.method) \(interaction.request.url)\(status)"))\n"
                        )
                    }
                }
            }
            try output.finish()
        } catch {
            try output.finish()
            // Git leaves the bodies of old versions where they are, in other files, and this one may be no cassette at all.
            let words = ["git", "--no-pager", "diff", "--no-index", "--no-ext-diff", "--", old, new]
            guard let result = ProgramOutput.text(of: "git", words, seconds: 60, limit: 64 << 20) else {
                throw ExitCode(ExitStatus.failed)
            }
            Terminal.output.write(result.output)
        }
    }
}
