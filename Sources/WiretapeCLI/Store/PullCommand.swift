internal import ArgumentParser
internal import CassetteRemote
internal import CassetteTools
internal import TapeBytes

struct PullCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pull",
        abstract: "Bring the cassettes that pointers name into the cache.",
        discussion: """
            Afterwards, commands read these cassettes offline: pass the pointer FILE.tape, or the name of the cassette without .tape. \
            Bodies that are in the cache already are not loaded again, and every byte is compared with its digest. A pull that fails can \
            be repeated. Several at once share the work.

            A folder stands for all pointers below it. s3://BUCKET/PREFIX@DIGEST names a cassette without a pointer, and \
            s3://BUCKET/PREFIX/runs/RUN/ those that were pushed with --shard RUN.

            Exit codes: 0 done, 1 failed.

            Examples:
              wiretape pull
              wiretape pull Cassettes/pets.json.tape
              wiretape pull Cassettes --check
            """)

    @Argument(help: ArgumentHelp("Pointers, or folders of them. Default: this folder.", valueName: "path"), completion: .file())
    var paths: [String] = ["."]

    @Flag(help: "Only print what would be loaded.")
    var dryRun = false

    @Flag(help: "Compare all bodies in the cache with their digests, and load those that are damaged.")
    var check = false

    @OptionGroup(title: "Store") var options: StoreOptions

    func run() throws {
        SignalThread.end(saying: "ended: what was loaded is used by the next pull: run the command again.")
        try CommandEnd.run { try self.pull() }
    }

    private func pull() throws -> Int32 {
        let cache = try StoreAccess.cache()
        let settings = try self.options.settings()
        var wanted: [(name: String, digest: String, address: StoreAddress?)] = []
        for path in self.paths where RemoteCassette.isRemote(path) {
            if let (address, run) = try ShardedRun.named(path) {
                let pointers = try run.pointers(in: StoreAccess.client(settings, at: address))
                wanted += pointers.map { ("\(address)@\($0.digest)", $0.digest, address) }
                continue
            }
            let remote = try RemoteCassette(path)
            wanted.append((path, remote.digest, remote.address))
        }
        let local = self.paths.filter { !RemoteCassette.isRemote($0) }
        for cassette in try StorePaths.cassettes(local, pointers: true) {
            let path = CassettePointer.path(of: cassette)
            wanted.append((path, try CassettePointer(path: path).digest, nil))
        }
        guard !wanted.isEmpty else {
            throw StoreError(
                .notFound, "there is no pointer in \(self.paths.map { "\"\($0)\"" }.joined(separator: ", ")): name one, or another folder.")
        }
        var sum = (loaded: 0, bytes: 0, there: 0)
        // Without anything to load, no credentials are needed.
        var clients: [StoreAddress?: StoreClient] = [:]
        for item in wanted {
            if !self.check, (try? cache.use(item.digest)) != nil {
                sum.there += 1
                continue
            }
            let client = try clients[item.address] ?? StoreAccess.client(settings, at: item.address)
            clients[item.address] = client
            let progress = StoreProgress("pulling \(item.name)")
            defer { progress.end() }
            let outcome = try CassettePull(client: client, cache: cache, threads: self.options.jobs).pull(
                item.digest, as: item.name, checksAll: self.check, isDry: self.dryRun
            ) { progress.show($0, of: $1) }
            progress.end()
            if outcome.wasThere {
                sum.there += 1
                continue
            }
            if outcome.isRepaired {
                Terminal.error.complain("\"\(item.name)\" was damaged in the cache and \(self.dryRun ? "would be" : "was") replaced.")
            }
            let verb = self.dryRun ? "would load" : "loaded"
            Terminal.output.line(
                "\"\(VisibleText.line(item.name))\": \(verb) \(Quantity.count(outcome.loaded, "object")) (\(Quantity.bytes(outcome.bytes)))."
            )
            sum.loaded += outcome.loaded
            sum.bytes += outcome.bytes
        }
        if !self.dryRun {
            let contents = cache.tidy()
            let removed = wanted.filter { cache.manifest($0.digest) == nil }
            if let first = removed.first {
                throw StoreError(
                    .tooLarge,
                    "\(removed.count) of \(Quantity.count(wanted.count, "cassette")), among them \"\(first.name)\", were removed again, since the cache may have only \(Quantity.bytes(cache.limit)): set WIRETAPE_CACHE_LIMIT to more, or pull fewer."
                )
            }
            if contents.bytes > cache.limit {
                Terminal.error.complain(
                    "the cache has \(Quantity.bytes(contents.bytes)), more than its limit of \(Quantity.bytes(cache.limit)), since all of it is in use: raise WIRETAPE_CACHE_LIMIT."
                )
            }
        }
        Terminal.output.line(
            "\(Quantity.count(wanted.count, "cassette")): \(sum.there) \(sum.there == 1 ? "was" : "were") there, \(self.dryRun ? "would load" : "loaded") \(Quantity.count(sum.loaded, "object")) (\(Quantity.bytes(sum.bytes)))."
        )
        return ExitStatus.done
    }
}
