internal import TapeBytes

/// What a JSON document requires of others that have its members and perhaps further ones: the value at each path, and the kind of each object
/// and array.
///
/// The elements of arrays may be in any order and there may be further ones, so they require nothing. Nor does what stands for any value
/// (`${json-unit.any-string}`).
struct JSONShape {
    private struct Requirement {
        /// Hashes of this process.
        var path: Int
        var value: Int
    }

    /// Ascending by path. Each path is there once.
    private let requirements: [Requirement]

    init(_ root: JSONValue) {
        var values: [Int: Int] = [:]
        func add(_ value: JSONValue, _ path: Int) {
            var hasher = Hasher()
            switch value.kind {
            case .object:
                hasher.combine("{")
                for member in value.members {
                    var inner = Hasher()
                    inner.combine(path)
                    inner.combine(member.name.string)
                    add(member.value, inner.finalize())
                }
            case .array: hasher.combine("[")
            case .number: hasher.combine(value.double)
            case .string:
                guard value.string?.hasPrefix("${json-unit.") != true else { return }
                hasher.combine(value.string)
            case .true, .false, .null: hasher.combine(value.kind)
            }
            // Of members with one name, the last one counts.
            values[path] = hasher.finalize()
        }
        add(root, 0)
        self.requirements = values.map { Requirement(path: $0, value: $1) }.sorted { $0.path < $1.path }
    }

    /// Equal for documents with objects, arrays and values at the same paths.
    var paths: [Int] { self.requirements.map(\.path) }

    /// A hash of the values at some of its paths, in their order.
    func values(at paths: Set<Int>) -> Int {
        var hasher = Hasher()
        for requirement in self.requirements where paths.contains(requirement.path) { hasher.combine(requirement.value) }
        return hasher.finalize()
    }

    /// Whether no document can have the members of both.
    func differs(from other: JSONShape) -> Bool {
        var (here, there) = (0, 0)
        while here < self.requirements.count, there < other.requirements.count {
            let (mine, theirs) = (self.requirements[here], other.requirements[there])
            if mine.path == theirs.path {
                guard mine.value == theirs.value else { return true }
                here += 1
                there += 1
            } else if mine.path < theirs.path {
                here += 1
            } else {
                there += 1
            }
        }
        return false
    }
}

/// Finds stubs whose bodies in JSON do not exclude each other, without comparing each pair.
struct StubsByShape {
    /// Stubs whose documents have the same paths.
    private struct Bucket {
        var paths: Set<Int>
        var members: [(number: Int, shape: JSONShape)] = []
        /// By the paths that documents of other buckets have as well, the numbers by the values there.
        var byValues: [Set<Int>: [Int: [Int]]] = [:]

        mutating func add(_ number: Int, _ shape: JSONShape) {
            self.members.append((number, shape))
            for common in self.byValues.keys { self.byValues[common]?[shape.values(at: common), default: []].append(number) }
        }

        mutating func numbers(sharing shape: JSONShape, _ paths: Set<Int>) -> [Int] {
            let common = self.paths.intersection(paths)
            if self.byValues[common] == nil {
                var numbers: [Int: [Int]] = [:]
                for member in self.members { numbers[member.shape.values(at: common), default: []].append(member.number) }
                self.byValues[common] = numbers
            }
            return self.byValues[common]?[shape.values(at: common)] ?? []
        }
    }

    /// Ascending.
    private var all: [Int] = []
    private var withoutJSON: [Int] = []
    private var buckets: [[Int]: Bucket] = [:]

    /// - Parameter number: greater than those before.
    mutating func add(_ number: Int, _ stub: ComparedStub) {
        self.all.append(number)
        guard let shape = stub.json else { return self.withoutJSON.append(number) }
        let paths = shape.paths
        self.buckets[paths, default: Bucket(paths: Set(paths))].add(number, shape)
    }

    /// The numbers of those that a body of this stub does not exclude, and perhaps of others, ascending.
    mutating func numbers(near stub: ComparedStub) -> [Int] {
        guard let shape = stub.json else { return self.all }
        let paths = Set(shape.paths)
        var numbers = self.withoutJSON
        for key in self.buckets.keys { numbers += self.buckets[key]?.numbers(sharing: shape, paths) ?? [] }
        return numbers.sorted()
    }
}
