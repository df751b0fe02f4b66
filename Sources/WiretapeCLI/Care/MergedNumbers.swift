internal import CassetteModel
internal import CassetteRedaction
internal import CassetteTools
internal import TapeRecorder

/// The inputs of a merge, with copies in place of those whose placeholders need other numbers.
///
/// Each recording numbers its secrets from 1, so `{{token:1}}` of two cassettes usually replaces different secrets. Where cassettes have an
/// exchange in common, its placeholders get the same numbers, also if a former merge has changed those of one cassette.
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
        let found = try files.map { try PlaceholderRenumbering.Found(path: $0, digest: CareCommand.digest) }
        guard Self.areShared(found) else { return }
        let common = try CassetteMerger(files, digest: CareCommand.digest).commonPlaceholders()
        var highest = found.map { $0.all.max() ?? 0 }.max() ?? 0
        var taken = PlaceholdersTaken()
        var finals: [[Int: Int]] = []
        do {
            for (index, own) in found.enumerated() {
                let known = common.numbers(of: index) { finals[$0.input][$0.number] ?? $0.number }
                let shift = taken.overlap(own, besides: known) ? highest : 0
                func final(_ number: Int) -> Int { known[number] ?? number + shift }
                let isRenumbered = try own.all.allSatisfy { final($0) == $0 } || self.renumber(index, own, highest, final, progress)
                finals.append(isRenumbered ? Dictionary(uniqueKeysWithValues: own.all.map { ($0, final($0)) }) : [:])
                if !isRenumbered { self.keep(1, own.placeholders.map(\.description).min() ?? "", in: files[index]) }
                taken.add(own) { isRenumbered ? final($0) : $0 }
                highest = max(highest, finals[index].values.max() ?? 0)
            }
        } catch {
            self.remove()
            throw error
        }
    }

    /// Removes the copies.
    func remove() { self.folder?.remove() }

    private static func areShared(_ found: [PlaceholderRenumbering.Found]) -> Bool {
        var taken = PlaceholdersTaken()
        return found.contains { own in
            defer { taken.add(own) { $0 } }
            return taken.overlap(own, besides: [:])
        }
    }

    /// Returns false if there is no room for other numbers.
    private mutating func renumber(
        _ index: Int, _ found: PlaceholderRenumbering.Found, _ highest: Int, _ final: (Int) -> Int, _ progress: (Int, Int) -> Void
    ) throws -> Bool {
        let direct = PlaceholderRenumbering(found, number: final)
        // A new number that another placeholder still has: all get numbers first that none has.
        let free = max(highest, found.all.map(final).max() ?? 0)
        guard let first = direct ?? PlaceholderRenumbering(found, number: { $0 + free }) else { return false }
        let folder = try self.folder ?? RunFolder(environment: ChildEnvironment.parent)
        self.folder = folder
        let original = self.files[index]
        let copy = "\(folder.path)/\(index + 1).json"
        let version = "wiretape \(Version.current)"
        _ = try CassetteMerger([original], digest: CareCommand.digest).write(to: copy, recorder: version)
        try self.renumber(copy, by: first, of: original, progress)
        if direct == nil {
            let found = try PlaceholderRenumbering.Found(path: copy, digest: CareCommand.digest)
            guard let second = PlaceholderRenumbering(found, number: { $0 > free ? final($0 - free) : $0 }) else { return false }
            try self.renumber(copy, by: second, of: original, progress)
        }
        self.files[index] = copy
        self.renumbered.append(original)
        return true
    }

    private mutating func renumber(
        _ copy: String, by renumbering: PlaceholderRenumbering, of original: String, _ progress: (Int, Int) -> Void
    ) throws {
        let outcome = try CassetteRedaction.renumber(
            copy, by: renumbering, version: Version.current, digest: CareCommand.digest, progress: progress)
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

    mutating func add(_ found: PlaceholderRenumbering.Found, number: (Int) -> Int) {
        self.placeholders.formUnion(found.placeholders.map { Placeholder(kind: $0.kind, number: number($0.number)) })
        self.numbers.formUnion(found.ofNumbers.map(number))
    }

    /// Whether placeholders whose new numbers are not known have numbers that are taken, or that the known ones get.
    func overlap(_ found: PlaceholderRenumbering.Found, besides known: [Int: Int]) -> Bool {
        let placeholders = found.placeholders.filter { known[$0.number] == nil }
        let numbers = found.ofNumbers.filter { known[$0] == nil }
        let new = Set(known.values)
        return !self.placeholders.isDisjoint(with: placeholders) || !self.numbers.isDisjoint(with: numbers)
            || placeholders.contains { new.contains($0.number) } || !numbers.isDisjoint(with: new)
    }
}
