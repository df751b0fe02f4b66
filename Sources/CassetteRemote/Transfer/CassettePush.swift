internal import CassetteModel
internal import CassetteStore
internal import TapeBytes

/// Stores cassettes and their bodies, and writes their pointers.
///
/// The order is bodies, cassette, manifest, pointer: what can be found is complete. Interrupted at any point, it can be run again, and
/// nothing that is read has changed.
package struct CassettePush: Sendable {
    /// A collection spares objects for this many seconds, unless it is told otherwise.
    package static let standardGrace = 7 * 86_400
    /// How often objects that vanish meanwhile are stored again.
    private static let rounds = 4

    package struct Outcome: Sendable, Hashable {
        package var pointer: CassettePointer
        /// Objects of the cassette.
        package var objects = 0
        package var stored = 0
        package var storedBytes = 0
        package var renewed = 0
        /// Objects among the stored ones that were in the store with other bytes.
        package var repaired = 0
        /// Whether the pointer is new or has changed.
        package var changedPointer = false
    }

    private let client: StoreClient
    private let cache: CassetteCache
    private let threads: Int
    private let tool: String
    /// Whether objects that are in the store are read back and compared.
    private let readsBack: Bool
    /// In seconds. Older objects are renewed: those with less than a day left, or less than half of a shorter grace.
    private let renewalAge: Int

    /// - Parameters:
    ///   - tool: the name and version of this program.
    ///   - grace: for how many seconds the store's collections spare objects.
    ///   - readsBack: whether objects that are in the store are read back, and stored again if they are damaged.
    package init(
        client: StoreClient, cache: CassetteCache, threads: Int, tool: String, grace: Int = CassettePush.standardGrace,
        readsBack: Bool = false
    ) {
        self.client = client
        self.cache = cache
        self.threads = threads
        self.tool = tool
        self.readsBack = readsBack
        self.renewalAge = max(grace - 86_400, grace / 2)
    }

    /// Pushes one cassette.
    ///
    /// - Parameters:
    ///   - check: called before anything is sent, unless the store and the pointer have this very text already.
    ///   - isDry: changes nothing.
    ///   - progress: how many objects are done.
    package func push(
        _ path: String, isDry: Bool, check: () throws -> Void = {},
        progress: @escaping @Sendable (_ done: Int, _ of: Int) -> Void = { _, _ in }
    ) throws -> Outcome {
        let path = CassettePlace.followed(path)
        let pointerPath = CassettePointer.path(of: path)
        let old = CassettePlace.exists(pointerPath) ? try? CassettePointer(path: pointerPath) : nil
        // Nobody may write the cassette meanwhile.
        let lock = try CassetteLock(path)
        defer { withExtendedLifetime(lock) {} }
        let text = try Payload(file: LocalFile.open(path))
        if !self.readsBack, let old, old.textDigest == text.sha256, let outcome = try self.known(old) { return outcome }
        try check()
        let plan = try self.plan(path, text, old)
        var outcome = Outcome(pointer: plan.pointer, objects: plan.manifest.objects.count + 1)
        try self.store(plan, isDry: isDry, &outcome, progress)
        outcome.changedPointer = old != plan.pointer && old?.digest != plan.pointer.digest
        guard !isDry else { return outcome }
        // The file may have been replaced although it is locked: by an editor, for example.
        guard try Payload(file: LocalFile.open(path)).sha256 == text.sha256 else {
            throw StoreError(.damaged, "\"\(path)\" changed while it was pushed: run the command again.")
        }
        if outcome.changedPointer { try plan.pointer.write(to: pointerPath) }
        return outcome
    }

    /// If everything that a pointer names is in the store, and will be for a while.
    private func known(_ pointer: CassettePointer) throws(StoreError) -> Outcome? {
        guard let name = ObjectName(pointer.digest, .manifest) else { return nil }
        var manifest = self.cache.manifest(pointer.digest)
        if manifest == nil, let bytes = try self.client.bytes(name.path, limit: Manifest.sizeLimit),
            MemoryDigest.hex(bytes) == pointer.digest
        {
            manifest = Manifest(bytes)
        }
        guard let manifest, manifest.textDigest == pointer.textDigest else { return nil }
        let objects = manifest.objects
        let presence = try ObjectPresence(of: Array(objects.keys) + [name], in: self.client, threads: self.threads)
        let now = Int(Timestamp.now.microseconds / 1_000_000)
        for (object, size) in objects {
            guard let entry = presence.entries[object], entry.size == size, now - entry.modified < self.renewalAge else { return nil }
        }
        guard let entry = presence.entries[name], now - entry.modified < self.renewalAge else { return nil }
        return Outcome(pointer: pointer, objects: objects.count + 1)
    }

    // MARK: The plan

    private struct Plan {
        var pointer: CassettePointer
        var manifest: Manifest
        var manifestName: ObjectName
        /// The compressed cassette.
        var packed: LocalFile
        /// The folder of the cassette, for its bodies.
        var location: FileLocation
    }

    private func plan(_ path: String, _ text: Payload, _ old: CassettePointer?) throws -> Plan {
        let location = FileLocation(path)
        guard location.name.hasSuffix(".json"), Manifest.isPlainName(location.name) else {
            throw StoreError(.settings, "\"\(path)\" cannot be pushed: give it a name that ends with .json and does not begin with a dot.")
        }
        let contents = try CassetteContents(path: path)
        let bodies = try contents.sidecars.map { sidecar in
            guard let object = ObjectName(sidecar.sha256, .body) else {
                throw StoreError(
                    .damaged, "\"\(path)\" names \"\(sidecar.path)\" with an invalid digest: run \"wiretape verify \(path)\".")
            }
            return Manifest.File(path: sidecar.path, object: object, size: sidecar.size)
        }
        let packed = try self.cache.temporaryFile()
        try Zstandard.compress(LocalFile.open(path), into: packed)
        let payload = try Payload(file: packed)
        guard let cassette = ObjectName(payload.sha256, .cassette) else {
            throw StoreError(.unsupported, "OpenSSL does not provide SHA-256 here: check its configuration.")
        }
        let manifest = Manifest(
            name: location.name, cassette: cassette, cassetteSize: payload.size, textDigest: text.sha256, textSize: text.size,
            exchanges: contents.exchanges, bodies: bodies)
        let bytes = manifest.bytes
        guard let name = ObjectName(MemoryDigest.hex(bytes), .manifest), Manifest(bytes) == manifest else {
            throw StoreError(
                .unsupported, "\"\(path)\" cannot be described: it has more than about 100,000 bodies in files, or odd names. Split it.")
        }
        let pointer = CassettePointer(
            digest: name.digest, textDigest: text.sha256, size: manifest.size, exchanges: contents.exchanges, recorded: contents.recorded,
            tool: self.tool)
        // The same cassette keeps its pointer, whichever version pushes it again.
        return Plan(
            pointer: old?.digest == pointer.digest ? old ?? pointer : pointer, manifest: manifest, manifestName: name, packed: packed,
            location: location)
    }

    // MARK: Storing

    private struct Task: Sendable {
        var object: ObjectName
        var size: Int
        /// Nil for the cassette and the manifest.
        var path: String?
    }

    private func store(
        _ plan: Plan, isDry: Bool, _ outcome: inout Outcome, _ progress: @escaping @Sendable (_ done: Int, _ of: Int) -> Void
    ) throws {
        var tasks: [Task] = []
        var known: Set<ObjectName> = []
        for body in plan.manifest.bodies where known.insert(body.object).inserted {
            tasks.append(Task(object: body.object, size: body.size, path: plan.location.sibling(body.path)))
        }
        let cassette = Task(object: plan.manifest.cassette, size: plan.manifest.cassetteSize)
        let manifest = Task(object: plan.manifestName, size: plan.manifest.bytes.count)
        let all = tasks + [cassette, manifest]
        // Bodies first, then the cassette, then the manifest that names them.
        var waves: [[Task]] = [tasks, [cassette], [manifest]]
        for round in 1...Self.rounds {
            let presence = try ObjectPresence(of: all.map(\.object), in: self.client, threads: self.threads)
            let now = Int(Timestamp.now.microseconds / 1_000_000)
            let counts = Guarded((stored: 0, bytes: 0, renewed: 0, repaired: 0, done: 0))
            let readsBack = self.readsBack && round == 1
            for wave in waves {
                try ParallelWork.run(wave, threads: self.threads) { [client, renewalAge] (task) throws(StoreError) in
                    let entry = presence.entries[task.object]
                    var isThere = entry?.size == task.size
                    if isThere, readsBack, try !Self.isWhole(task, in: client) {
                        isThere = false
                        counts.withLock { $0.repaired += 1 }
                    }
                    let isOld = isThere && round == 1 && now - (entry?.modified ?? now) >= renewalAge
                    if !isThere {
                        if !isDry { try Self.send(task, plan, to: client, replaces: entry != nil) }
                        counts.withLock { ($0.stored, $0.bytes) = ($0.stored + 1, $0.bytes + task.size) }
                    } else if isOld {
                        // Gone since it was looked at.
                        if !isDry, try !client.renew(task.object.path, type: task.object.type) {
                            try Self.send(task, plan, to: client, replaces: false)
                        }
                        counts.withLock { $0.renewed += 1 }
                    }
                    let done = counts.withLock { counts in
                        counts.done += 1
                        return counts.done
                    }
                    progress(done, all.count)
                }
            }
            let count = counts.withLock { $0 }
            if round == 1 {
                (outcome.stored, outcome.storedBytes) = (count.stored, count.bytes)
                (outcome.renewed, outcome.repaired) = (count.renewed, count.repaired)
            }
            // Nothing was missing: all of it was there after the last write.
            guard !isDry, count.stored + (round == 1 ? count.renewed : 0) > 0 else { return }
            waves = [tasks, [cassette], [manifest]]
        }
        throw StoreError(
            .busy,
            "\"\(self.client.address)\" does not keep what is stored: objects were missing again after \(Self.rounds) rounds. Is a collection running with a grace of no time? Check the server with \"wiretape store check\"."
        )
    }

    /// Whether the bytes in the store have the digest of the object's name.
    private static func isWhole(_ task: Task, in client: StoreClient) throws(StoreError) -> Bool {
        var digest = DigestContext.sha256()
        let isThere = try client.get(task.object.path, limit: task.size, begin: { digest = DigestContext.sha256() }) { digest?.update($0) }
        guard let digest else {
            throw StoreError(.unsupported, "OpenSSL does not provide SHA-256 here: check its configuration.")
        }
        return isThere && Hex.encode(digest.finalize()) == task.object.digest
    }

    private static func send(_ task: Task, _ plan: Plan, to client: StoreClient, replaces: Bool) throws(StoreError) {
        let payload: Payload
        switch (task.object.kind, task.path) {
        case (.manifest, _): payload = try Payload(plan.manifest.bytes)
        case (.cassette, _): payload = try Payload(file: plan.packed)
        case (.body, let path): payload = try Payload(file: LocalFile.open(path ?? ""))
        }
        guard payload.sha256 == task.object.digest else {
            throw StoreError(
                .damaged,
                "\"\(task.path ?? "the cassette")\" does not have the digest that the cassette names: run \"wiretape verify\" on it.")
        }
        _ = try client.put(task.object.path, payload, type: task.object.type, replaces ? .always : .ifNew)
    }
}
