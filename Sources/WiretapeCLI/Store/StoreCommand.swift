internal import ArgumentParser
internal import CassetteRemote
internal import CassetteTools
internal import Platform
internal import TapeBytes

struct StoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store",
        abstract: "Look at, check and clean the object storage of cassettes.",
        subcommands: [StoreStatusCommand.self, StoreListCommand.self, StoreCheckCommand.self, StoreCleanCommand.self])
}

struct StoreCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Find out what the server of the store can do, by trying it.",
        discussion: """
            Stores a few small objects below PREFIX/check, and removes them. "ok" works; "without" is something that Wiretape does \
            without; "BAD" is something that it cannot do without.

            Exit codes: 0 nothing is bad, 1 something is, 2 the store cannot be reached.

            Examples:
              wiretape store check
              wiretape store check --store s3://tapes/shop --endpoint http://127.0.0.1:9000
            """)

    @OptionGroup(title: "Store") var options: StoreOptions

    func run() throws {
        SignalThread.unblock()
        let isBad = try CareCommand.run {
            let client = try self.options.client()
            var isBad = false
            try StoreCheck(client: client).run { line in
                let word = line.verdict == .bad ? "BAD" : line.verdict.rawValue
                let columns = [(word, 8), (line.subject, 20)].map { text, width in
                    text + String(repeating: " ", count: max(1, width - text.count))
                }
                Terminal.output.line(VisibleText.line(columns.joined() + line.text))
                isBad = isBad || line.verdict == .bad
            }
            return isBad
        }
        guard !isBad else { throw ExitCode(ExitStatus.different) }
    }
}

struct StoreStatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show which cassettes are pushed, changed since, and in the cache.",
        discussion: """
            Without --remote, asks no server.

            Exit codes: 0 everything is pushed, 1 something is not, or was not pushed whole, 2 failed.

            Examples:
              wiretape store status
              wiretape store status Cassettes --remote
            """)

    @Argument(help: ArgumentHelp("Cassettes, pointers, or folders of them. Default: this folder.", valueName: "path"), completion: .file())
    var paths: [String] = ["."]

    @Flag(help: "Also ask the store whether all objects are there.")
    var remote = false

    @OptionGroup(title: "Store") var options: StoreOptions

    func run() throws {
        SignalThread.unblock()
        guard try CareCommand.run({ try self.status() }) else { throw ExitCode(ExitStatus.different) }
    }

    /// - Returns: whether everything is pushed.
    private func status() throws -> Bool {
        let cache = try StoreAccess.cache()
        let client = self.remote ? try self.options.client() : nil
        var all: [String] = []
        for path in self.paths {
            let found = (try? StorePaths.cassettes([path], pointers: true)) ?? []
            let local = (try? StorePaths.cassettes([path], pointers: false)) ?? []
            guard !(found + local).isEmpty || path == "." else {
                throw StoreError(.notFound, "there is no cassette and no pointer in \"\(path)\": check the path.")
            }
            all += found + local
        }
        var isPushed = true
        for cassette in Set(all).sorted() {
            let pointerPath = CassettePointer.path(of: cassette)
            guard access(pointerPath, F_OK) == 0 else {
                Terminal.output.line(VisibleText.line("not pushed  \(cassette)"))
                isPushed = false
                continue
            }
            let pointer: CassettePointer
            do throws(StoreError) {
                pointer = try CassettePointer(path: pointerPath)
            } catch {
                Terminal.output.line(VisibleText.line("BAD         \(cassette)  \(error.message)"))
                isPushed = false
                continue
            }
            var words = ["\(Quantity.count(pointer.exchanges, "exchange")), \(Quantity.bytes(pointer.size))"]
            var state = "pushed"
            if access(cassette, F_OK) == 0 {
                if try Payload(file: LocalFile.open(cassette)).sha256 != pointer.textDigest { state = "changed" }
            } else {
                words.append("no local file")
            }
            do throws(StoreError) {
                words.append(try cache.use(pointer.digest) == nil ? "not in the cache" : "in the cache")
            } catch {
                words.append("DAMAGED in the cache: run \"wiretape pull \(pointerPath)\"")
            }
            if let client {
                let missing = try StorePresence.missing(pointer.digest, in: client, threads: self.options.jobs)
                if let missing { (state, words) = ("not whole", words + [missing]) }
            }
            if state != "pushed" { isPushed = false }
            let padded = state + String(repeating: " ", count: max(1, 12 - state.count))
            Terminal.output.line(VisibleText.line("\(padded)\(cassette)  \(words.joined(separator: ", "))"))
        }
        let contents = cache.contents()
        Terminal.output.line(
            VisibleText.line(
                "cache: \(Quantity.count(contents.cassettes, "cassette")), \(Quantity.count(contents.objects, "object")), \(Quantity.bytes(contents.bytes)) of \(Quantity.bytes(cache.limit)) in \(cache.folder)"
            ))
        return isPushed
    }
}

struct StoreListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ls",
        abstract: "List the cassettes in the store, with the digests that name them.",
        discussion: """
            Examples:
              wiretape store ls
              wiretape store ls --store s3://tapes/shop
            """)

    @OptionGroup(title: "Store") var options: StoreOptions

    func run() throws {
        SignalThread.unblock()
        try CommandEnd.run {
            let client = try self.options.client()
            var sum = (cassettes: 0, objects: 0, bytes: 0)
            try client.list("manifests/") { (page) throws(StoreError) in
                for object in page {
                    guard let name = ObjectName(path: object.name), name.kind == .manifest else { continue }
                    guard let bytes = try client.bytes(object.name, limit: Manifest.sizeLimit) else { continue }
                    guard Payload.digest(of: bytes) == name.digest, let manifest = Manifest(bytes) else {
                        throw StoreError(
                            .damaged, "\"\(object.name)\" of \"\(client.address)\" is not what its name says: push its cassette again.")
                    }
                    sum.cassettes += 1
                    Terminal.output.line(
                        VisibleText.line(
                            "\(name.digest)  \(object.modified.formatted.prefix(19))Z  \(Quantity.count(manifest.exchanges, "exchange")), \(Quantity.count(manifest.objects.count, "object")), \(Quantity.bytes(manifest.size))  \(manifest.name)"
                        ))
                }
                return true
            }
            try client.list("objects/") { (page) throws(StoreError) in
                for object in page {
                    sum.objects += 1
                    sum.bytes += object.size
                }
                return true
            }
            Terminal.output.line(
                "\(Quantity.count(sum.cassettes, "cassette")), \(Quantity.count(sum.objects, "object")), \(Quantity.bytes(sum.bytes)) in \(client.address)."
            )
            return ExitStatus.done
        }
    }
}

struct StoreCleanCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gc",
        abstract: "Remove from the store what no pointer in git needs.",
        discussion: """
            Keeps every cassette that a pointer names: in the commits of the refs, and in this folder. Of the rest, objects that are \
            older than the grace are removed, but only with --delete; without it, they are counted. Run it in a clone with all branches \
            and tags; a shallow one is refused. If one kept pointer cannot be read, nothing is removed. Turn on the bucket's \
            versioning, so that a mistake can be undone.

            Examples:
              wiretape store gc
              wiretape store gc --keep-refs origin/main origin/release --delete
            """)

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp("The refs whose pointers count. Default: all branches, tags and remote branches.", valueName: "ref"))
    var keepRefs: [String] = []

    @Option(help: ArgumentHelp("What is younger is kept: 7d, 12h. A push relies on at least a day more than it takes.", valueName: "age"))
    var grace = "7d"

    @Flag(help: "Remove it. Without this, objects are only counted.")
    var delete = false

    @Flag(help: "Only count what would be removed. This is the default.")
    var dryRun = false

    @OptionGroup(title: "Store") var options: StoreOptions

    func validate() throws {
        guard !(self.delete && self.dryRun) else {
            throw ValidationError("--delete and --dry-run cannot be used together: pass one of them.")
        }
        guard Self.seconds(self.grace) != nil else { throw ValidationError("--grace takes a number with s, m, h or d: 7d.") }
    }

    static func seconds(_ text: String) -> Int? {
        guard let unit = ["s": 1, "m": 60, "h": 3600, "d": 86_400][text.suffix(1)], let number = Int(text.dropLast()),
            (0...36_500).contains(number) || unit == 1, number >= 0
        else { return nil }
        return number.multipliedReportingOverflow(by: unit).overflow ? nil : number * unit
    }

    func run() throws {
        SignalThread.end(saying: "ended: what was removed was not needed by any pointer; run the command again for the rest.")
        try CommandEnd.run {
            let client = try self.options.client()
            var digests = try GitPointers.digests(refs: self.keepRefs)
            for cassette in try StorePaths.cassettes(["."], pointers: true) {
                let path = CassettePointer.path(of: cassette)
                digests[try CassettePointer(path: path).digest] = "\"\(path)\""
            }
            guard !digests.isEmpty else {
                throw StoreError(
                    .refused,
                    "there is no pointer in these refs and in this folder, so that everything would be removed: run this in the repository with the pointers."
                )
            }
            let progress = StoreProgress("looking at")
            defer { progress.end() }
            let outcome = try StoreCollection(client: client, cache: StoreAccess.cache(), threads: self.options.jobs).run(
                keeping: digests, grace: Self.seconds(self.grace) ?? CassettePush.standardGrace, isDry: !self.delete
            ) { progress.show($0, of: $1) }
            progress.end()
            let verb = self.delete ? "removed" : "would remove"
            var text = "\(verb) \(Quantity.count(outcome.removed, "object")) (\(Quantity.bytes(outcome.removedBytes))); "
            text +=
                "\(outcome.kept) of \(Quantity.count(digests.count, "cassette")) kept (\(Quantity.bytes(outcome.keptBytes))), \(outcome.young) younger than \(self.grace)"
            if outcome.spared > 0 { text += ", \(outcome.spared) renewed meanwhile" }
            if outcome.foreign > 0 { text += ", \(outcome.foreign) that are not Wiretape's" }
            Terminal.output.line(text + (self.delete || outcome.removed == 0 ? "." : ": pass --delete to remove them."))
            return ExitStatus.done
        }
    }
}
