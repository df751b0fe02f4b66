internal import CassetteModel
internal import CassetteRedaction
internal import CassetteTools
internal import TapeRecorder

/// The inputs of a merge, with copies in place of those whose placeholders need other numbers.
///
/// Each recording numbers its secrets from 1, so `{{token:1}}` of two cassettes usually replaces different secrets. Cassettes that have an
/// exchange in common come from one recording and keep their numbers.
struct MergedNumbers {
    /// The cassettes to merge.
    private(set) var files: [String]
    /// The cassettes whose placeholders have other numbers now.
    private(set) var renumbered: [String] = []
    /// Placeholders of several cassettes that keep their numbers, because there is no room for others, and where the first one is.
    private(set) var kept: (count: Int, first: String)?
    private var folder: RunFolder?

    /// - Throws: if a cassette cannot be read, or a copy cannot be written.
    init(_ files: [String], progress: (_ done: Int, _ of: Int) -> Void) throws {
        self.files = files
        guard files.count > 1 else { return }
        let found = try files.map { try PlaceholderShift.Found(path: $0, digest: CareCommand.digest) }
        guard Self.areShared(found), try !CassetteMerger(files, digest: CareCommand.digest).hasCopies() else { return }
        var highest = found.map { max($0.highest, $0.ofNumbers.max() ?? 0) }.max() ?? 0
        var taken = PlaceholdersTaken()
        do {
            for (index, own) in found.enumerated() {
                guard taken.overlap(own) else {
                    taken.add(own)
                    continue
                }
                guard let shift = PlaceholderShift(own, by: highest) else {
                    self.keep(1, own.placeholders.map(\.description).min() ?? "", in: files[index])
                    continue
                }
                try self.renumber(index, by: shift, progress)
                highest += max(own.highest, own.ofNumbers.max() ?? 0)
            }
        } catch {
            self.remove()
            throw error
        }
    }

    /// Removes the copies.
    func remove() { self.folder?.remove() }

    private static func areShared(_ found: [PlaceholderShift.Found]) -> Bool {
        var taken = PlaceholdersTaken()
        return found.contains { own in
            defer { taken.add(own) }
            return taken.overlap(own)
        }
    }

    private mutating func renumber(_ index: Int, by shift: PlaceholderShift, _ progress: (Int, Int) -> Void) throws {
        let folder = try self.folder ?? RunFolder(environment: ChildEnvironment.parent)
        self.folder = folder
        let original = self.files[index]
        let copy = "\(folder.path)/\(index + 1).json"
        let version = "wiretape \(Version.current)"
        _ = try CassetteMerger([original], digest: CareCommand.digest).write(to: copy, recorder: version)
        let outcome = try CassetteRedaction.renumber(
            copy, by: shift, version: Version.current, digest: CareCommand.digest, progress: progress)
        self.files[index] = copy
        self.renumbered.append(original)
        if let leak = outcome.leaks.first { self.keep(outcome.leaks.count, "\(leak.placeholder)", in: original) }
    }

    private mutating func keep(_ count: Int, _ first: String, in file: String) {
        self.kept = (count + (self.kept?.count ?? 0), self.kept?.first ?? "\(first) of \"\(file)\"")
    }
}

/// The placeholders of the cassettes so far.
private struct PlaceholdersTaken {
    private var placeholders: Set<Placeholder> = []
    private var numbers: Set<Int> = []

    mutating func add(_ found: PlaceholderShift.Found) {
        self.placeholders.formUnion(found.placeholders)
        self.numbers.formUnion(found.ofNumbers)
    }

    func overlap(_ found: PlaceholderShift.Found) -> Bool {
        !self.placeholders.isDisjoint(with: found.placeholders) || !self.numbers.isDisjoint(with: found.ofNumbers)
    }
}
