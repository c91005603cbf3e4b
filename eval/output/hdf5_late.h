/* HDF5 for eval/output/hdf5.c. With CW_HDF5_LATE, its file's name, it is loaded when the first file is written: it
 * brings forty libraries, and loading them takes longer than most commands do otherwise. */
#ifndef CW_EVAL_OUTPUT_HDF5_LATE_H
#define CW_EVAL_OUTPUT_HDF5_LATE_H

#include <hdf5.h>
#include <hdf5_hl.h>

#include "base/error.h"

/* Call it before any other function of HDF5. */
enum cw_status cw_hdf5_load(struct cw_error *err);

#ifdef CW_HDF5_LATE

#define CW_HDF5_FUNCTIONS(X)                                                                                           \
    X(H5Aclose)                                                                                                        \
    X(H5Acreate2)                                                                                                      \
    X(H5Awrite)                                                                                                        \
    X(H5Dcreate2)                                                                                                      \
    X(H5Dget_space)                                                                                                    \
    X(H5Dwrite)                                                                                                        \
    X(H5DSattach_scale)                                                                                                \
    X(H5DSset_scale)                                                                                                   \
    X(H5Eget_auto2)                                                                                                    \
    X(H5Eset_auto2)                                                                                                    \
    X(H5Ewalk2)                                                                                                        \
    X(H5Fclose)                                                                                                        \
    X(H5Fcreate)                                                                                                       \
    X(H5Fflush)                                                                                                        \
    X(H5Fget_filesize)                                                                                                 \
    X(H5Fget_vfd_handle)                                                                                               \
    X(H5Gcreate2)                                                                                                      \
    X(H5Iinc_ref)                                                                                                      \
    X(H5Oclose)                                                                                                        \
    X(H5Oflush)                                                                                                        \
    X(H5Pclose)                                                                                                        \
    X(H5Pcopy)                                                                                                         \
    X(H5Pcreate)                                                                                                       \
    X(H5Pset_alloc_time)                                                                                               \
    X(H5Pset_buffer)                                                                                                   \
    X(H5Pset_chunk)                                                                                                    \
    X(H5Pset_create_intermediate_group)                                                                                \
    X(H5Pset_deflate)                                                                                                  \
    X(H5Pset_fill_time)                                                                                                \
    X(H5Pset_link_creation_order)                                                                                      \
    X(H5Pset_obj_track_times)                                                                                          \
    X(H5Pset_shuffle)                                                                                                  \
    X(H5Sclose)                                                                                                        \
    X(H5Screate)                                                                                                       \
    X(H5Screate_simple)                                                                                                \
    X(H5Sget_simple_extent_ndims)                                                                                      \
    X(H5Sselect_hyperslab)                                                                                             \
    X(H5Tclose)                                                                                                        \
    X(H5Tcopy)                                                                                                         \
    X(H5Tset_cset)                                                                                                     \
    X(H5Tset_size)                                                                                                     \
    X(H5check_version)                                                                                                 \
    X(H5dont_atexit)                                                                                                   \
    X(H5open)
/* the variables behind H5T_NATIVE_DOUBLE and other types */
#define CW_HDF5_IDS(X)                                                                                                 \
    X(H5P_CLS_DATASET_CREATE_ID_g)                                                                                     \
    X(H5P_CLS_DATASET_XFER_ID_g)                                                                                       \
    X(H5P_CLS_FILE_CREATE_ID_g)                                                                                        \
    X(H5P_CLS_GROUP_CREATE_ID_g)                                                                                       \
    X(H5P_CLS_LINK_CREATE_ID_g)                                                                                        \
    X(H5T_C_S1_g)                                                                                                      \
    X(H5T_IEEE_F64LE_g)                                                                                                \
    X(H5T_NATIVE_DOUBLE_g)                                                                                             \
    X(H5T_NATIVE_INT64_g)                                                                                              \
    X(H5T_NATIVE_INT8_g)                                                                                               \
    X(H5T_NATIVE_UINT32_g)                                                                                             \
    X(H5T_NATIVE_UINT64_g)                                                                                             \
    X(H5T_STD_I64LE_g)                                                                                                 \
    X(H5T_STD_I8LE_g)                                                                                                  \
    X(H5T_STD_U32LE_g)                                                                                                 \
    X(H5T_STD_U64LE_g)

/* Set by cw_hdf5_load. */
#define X(name) extern __typeof__(&name) cw_late_##name;
CW_HDF5_FUNCTIONS(X)
#undef X
#define X(name) extern hid_t *cw_late_##name;
CW_HDF5_IDS(X)
#undef X

#define H5Aclose cw_late_H5Aclose
#define H5Acreate2 cw_late_H5Acreate2
#define H5Awrite cw_late_H5Awrite
#define H5Dcreate2 cw_late_H5Dcreate2
#define H5Dget_space cw_late_H5Dget_space
#define H5Dwrite cw_late_H5Dwrite
#define H5DSattach_scale cw_late_H5DSattach_scale
#define H5DSset_scale cw_late_H5DSset_scale
#define H5Eget_auto2 cw_late_H5Eget_auto2
#define H5Eset_auto2 cw_late_H5Eset_auto2
#define H5Ewalk2 cw_late_H5Ewalk2
#define H5Fclose cw_late_H5Fclose
#define H5Fcreate cw_late_H5Fcreate
#define H5Fflush cw_late_H5Fflush
#define H5Fget_filesize cw_late_H5Fget_filesize
#define H5Fget_vfd_handle cw_late_H5Fget_vfd_handle
#define H5Gcreate2 cw_late_H5Gcreate2
#define H5Iinc_ref cw_late_H5Iinc_ref
#define H5Oclose cw_late_H5Oclose
#define H5Oflush cw_late_H5Oflush
#define H5Pclose cw_late_H5Pclose
#define H5Pcopy cw_late_H5Pcopy
#define H5Pcreate cw_late_H5Pcreate
#define H5Pset_alloc_time cw_late_H5Pset_alloc_time
#define H5Pset_buffer cw_late_H5Pset_buffer
#define H5Pset_chunk cw_late_H5Pset_chunk
#define H5Pset_create_intermediate_group cw_late_H5Pset_create_intermediate_group
#define H5Pset_deflate cw_late_H5Pset_deflate
#define H5Pset_fill_time cw_late_H5Pset_fill_time
#define H5Pset_link_creation_order cw_late_H5Pset_link_creation_order
#define H5Pset_obj_track_times cw_late_H5Pset_obj_track_times
#define H5Pset_shuffle cw_late_H5Pset_shuffle
#define H5Sclose cw_late_H5Sclose
#define H5Screate cw_late_H5Screate
#define H5Screate_simple cw_late_H5Screate_simple
#define H5Sget_simple_extent_ndims cw_late_H5Sget_simple_extent_ndims
#define H5Sselect_hyperslab cw_late_H5Sselect_hyperslab
#define H5Tclose cw_late_H5Tclose
#define H5Tcopy cw_late_H5Tcopy
#define H5Tset_cset cw_late_H5Tset_cset
#define H5Tset_size cw_late_H5Tset_size
#define H5check_version cw_late_H5check_version
#define H5dont_atexit cw_late_H5dont_atexit
#define H5open cw_late_H5open
#define H5P_CLS_DATASET_CREATE_ID_g (*cw_late_H5P_CLS_DATASET_CREATE_ID_g)
#define H5P_CLS_DATASET_XFER_ID_g (*cw_late_H5P_CLS_DATASET_XFER_ID_g)
#define H5P_CLS_FILE_CREATE_ID_g (*cw_late_H5P_CLS_FILE_CREATE_ID_g)
#define H5P_CLS_GROUP_CREATE_ID_g (*cw_late_H5P_CLS_GROUP_CREATE_ID_g)
#define H5P_CLS_LINK_CREATE_ID_g (*cw_late_H5P_CLS_LINK_CREATE_ID_g)
#define H5T_C_S1_g (*cw_late_H5T_C_S1_g)
#define H5T_IEEE_F64LE_g (*cw_late_H5T_IEEE_F64LE_g)
#define H5T_NATIVE_DOUBLE_g (*cw_late_H5T_NATIVE_DOUBLE_g)
#define H5T_NATIVE_INT64_g (*cw_late_H5T_NATIVE_INT64_g)
#define H5T_NATIVE_INT8_g (*cw_late_H5T_NATIVE_INT8_g)
#define H5T_NATIVE_UINT32_g (*cw_late_H5T_NATIVE_UINT32_g)
#define H5T_NATIVE_UINT64_g (*cw_late_H5T_NATIVE_UINT64_g)
#define H5T_STD_I64LE_g (*cw_late_H5T_STD_I64LE_g)
#define H5T_STD_I8LE_g (*cw_late_H5T_STD_I8LE_g)
#define H5T_STD_U32LE_g (*cw_late_H5T_STD_U32LE_g)
#define H5T_STD_U64LE_g (*cw_late_H5T_STD_U64LE_g)

#endif

#endif
