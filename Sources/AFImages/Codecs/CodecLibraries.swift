// Each module links the library of a format, and is there if its header is. CAFImageCodecs looks for the same headers, and
// refuses the pictures of formats without a library.
#if canImport(CAFLibPNG)
    import CAFLibPNG
#endif
#if canImport(CAFLibJPEG)
    import CAFLibJPEG
#endif
#if canImport(CAFLibWebP)
    import CAFLibWebP
#endif
#if canImport(CAFLibGIF)
    import CAFLibGIF
#endif
