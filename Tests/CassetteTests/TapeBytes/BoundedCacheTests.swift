@testable import TapeBytes
import Testing

@Suite struct BoundedCacheTests {
    @Test func valuesWithinTheLimitAreKept() {
        var cache = BoundedCache<Int>(limit: 100) { _ in 2 }
        for round in 0..<5 {
            for key in 0..<50 where cache.value(key) == nil {
                #expect(round == 0)
                cache.insert(key * 7, at: key)
            }
        }
        #expect((0..<50).allSatisfy { cache.value($0) == $0 * 7 })
    }

    @Test func oldestValueIsEvictedFirst() {
        var cache = BoundedCache<Int>(limit: 10) { _ in 1 }
        for key in 0..<1000 {
            cache.insert(key, at: key)
            #expect((0...key).filter { cache.value($0) != nil } == Array(max(0, key - 9)...key))
        }
    }

    @Test func anEntryBeyondTheLimitIsHeldUntilTheNext() {
        var cache = BoundedCache<Int>(limit: 10) { $0 }
        cache.insert(1000, at: 1)
        #expect(cache.value(1) == 1000)
        cache.insert(1, at: 2)
        #expect(cache.value(1) == nil)
        #expect(cache.value(2) == 1)
    }

    @Test func anEntryPutInAgainCountsOnceAndStays() {
        var cache = BoundedCache<Int>(limit: 10) { $0 }
        cache.insert(5, at: 1)
        cache.insert(4, at: 2)
        cache.insert(6, at: 1)
        #expect(cache.value(1) == 6)
        #expect(cache.value(2) == 4)
        cache.insert(8, at: 1)
        #expect(cache.value(1) == 8)
        #expect(cache.value(2) == nil)
    }
}
